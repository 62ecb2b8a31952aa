"""What programs see of protos, scopes, sessions, queues, slots: snippets for tests/differential.py."""
# ruff: noqa: E501
HELPERS = r'''
M = tf.make_tensor_proto
def d(*a, **k):
    p = M(*a, **k)
    nd = tf.make_ndarray(p)
    flat = nd.reshape(-1).tolist()
    content = p.tensor_content
    return (p.dtype, [x.size for x in p.tensor_shape.dim], nd.dtype.name, nd.shape, [str(x) for x in flat], content[:40], [f for f in 'half_val float_val double_val int_val string_val scomplex_val int64_val bool_val dcomplex_val uint32_val uint64_val'.split() if len(getattr(p, f))], [len(getattr(p, f)) for f in 'float_val int_val int64_val string_val'.split()])
def slots(opt):

    def f():
        x = tf.placeholder_with_default(np.ones([2, 3], np.float32), shape=None)
        v = tf.Variable(x, validate_shape=False, name='v')
        loss = tf.reduce_sum(v * v)
        o = opt()
        t = o.minimize(loss)
        s = tf.Session()
        s.run(tf.global_variables_initializer())
        for _ in range(3):
            s.run(t)
        return (s.run(v).round(4).tolist(), str(v.shape), [str(o.get_slot(v, n).shape) for n in o.get_slot_names()], sorted((x.op.name for x in tf.global_variables())))
    return f
O = tf.train
QUEUES = dict(FIFO=lambda capacity=3, types=[tf.int32], shapes=[[]], least=1, seed=3: tf.FIFOQueue(capacity, types, shapes, shared_name="q"),
    RS=lambda capacity=3, types=[tf.int32], shapes=[[]], least=1, seed=3: tf.RandomShuffleQueue(capacity, least, types, shapes, seed=seed, shared_name="q"),
    PF=lambda capacity=3, types=[tf.int32], shapes=[[None]], least=1, seed=3: tf.PaddingFIFOQueue(capacity, types, shapes, shared_name="q"),
    PQ=lambda capacity=3, types=[tf.int32], shapes=[[]], least=1, seed=3: tf.PriorityQueue(capacity, types, shapes, shared_name="q"))
def twice(first, second, **changed):
    x, y = QUEUES[first](), QUEUES[second](**changed)
    return [int(n) for n in tf.Session().run([x.size(), y.size()])]
'''

SNIPPETS = r'''
d(10)
===
d(10.)
===
d([1.,2.])
===
d('foo')
===
d(b'foo')
===
d([10,20,30])
===
d([[1,2],[3,4]])
===
d(True)
===
d(1j)
===
d([True,False])
===
d(10,shape=[2,2])
===
d([1,2],shape=[3])
===
d([1,2,3],shape=[2])
===
d([1,2,3,4],shape=[2,2])
===
d(10,shape=[])
===
d([],shape=[0])
===
d([])
===
d([],dtype=tf.int32)
===
d('a',shape=[3])
===
d(['a','b'],shape=[1,2])
===
d(np.array([10,20,30]),dtype=tf.float32)
===
d([1,2],dtype=tf.float64)
===
d([1,2],dtype=tf.int64)
===
d([1.5,2],dtype=tf.int32)
===
d(1,dtype=tf.bool)
===
d(True,dtype=tf.int32)
===
d(3,dtype=tf.string)
===
d('a',dtype=tf.int32)
===
d([1,2],dtype=tf.complex64)
===
d(2**40,dtype=tf.int32)
===
d(None)
===
d([None])
===
d([1,'a'])
===
d([[1],[2,3]])
===
d({})
===
d(object())
===
d(np.array(['a',b'b'],object))
===
d(np.array(['abc','de']))
===
d(np.float16(2))
===
d(np.zeros([2,3]))
===
d(np.ones([1000],np.float32))
===
d(np.arange(6).reshape(2,3).T)
===
d(tf.float32)
===
d([np.float32(1),2])
===
d((1,2))
===
d(2**31)
===
d(2**63)
===
d(-2**40)
===
d([1,2.5])
===
d([1,True])
===
d('ä')
===
d(1,verify_shape=True,shape=[2])
===
d([1,2],shape=[2],verify_shape=True)
===
d([1,2],shape=[1,2],verify_shape=True)
===
d(np.array(5,np.uint32))
===
d([1,2],dtype=tf.qint8)
===
d(np.array([1,2],np.int64),dtype=tf.int64)
===
d(300,dtype=tf.uint8)
===
d(-1,dtype=tf.uint8)
===
d(1e40,dtype=tf.float32)
===
d([1,2],dtype=np.float32)
===
d([1,2],dtype='float32')
===
d(np.array([1.5,2.5]),dtype=tf.int32)
===
d(tf.constant(1))
===
d(np.array([],np.float32))
===
d(np.zeros([0,3]))
===
d('abc',dtype=tf.string)
===
d([b'a',u'b'])
===
d(np.array([1,2],np.uint8),dtype=tf.int32)
===
d(1,dtype=tf.half)
===
d([1,2],shape=(1,2))
===
d([1,2],shape=tf.TensorShape([2]))
===
d(np.bool_(True))
===
d(np.array(1.0),shape=[2])
===
d(np.array([1,2]),shape=[3])
===
d(10,dtype=tf.float32,shape=[2])
===
d([[]])
===
d([np.array([1,2]),np.array([3,4])])
===
d([1,2],dtype=tf.resource)
===
d(np.array([1,2],np.int32),allow_broadcast=True,shape=[3])
===
d(tf.SparseTensorValue([[0]],[1],[2]))
===
tf.Session(37)
===
tf.Session(None).run(tf.constant(1))
===
tf.Session('').run(tf.constant(1))
===
tf.Session('foo://x').run(tf.constant(1))
===
tf.Session(b'').run(tf.constant(1))
===
tf.Session(graph=3)
===
tf.Session(config=3)
===
s = tf.Session()
with s:
    with s:
        pass
===
g = tf.Graph()
with g.as_default():
    with g.as_default():
        pass
1
===
p = tf.placeholder(tf.string, [2])
s = tf.Session()
f = np.array(['aä', b'b'], object)
[s.run(tf.reshape(p, [1, 2]), {p: f}).tolist(), s.run(tf.stack([p, p]), {p: f}).tolist(), s.run(tf.cond(tf.constant(True), lambda: p, lambda: p), {p: f}).tolist(), s.run(tf.concat([p, p], 0), {p: f}).tolist(), s.run(p[0], {p: f}), s.run(tf.gather(p, [0]), {p: f}).tolist(), s.run(tf.constant(['ä', 'b'])).tolist(), s.run(tf.constant(np.array(['ä', b'c'], object))).tolist()]
===
q = tf.FIFOQueue(3, [tf.string], [[]])
p = tf.placeholder(tf.string, [2])
s = tf.Session()
s.run(q.enqueue_many(p), {p: np.array(['ä', 'b'], object)})
[s.run(q.dequeue()) for _ in range(2)]
===
v = tf.get_variable('v', [2], tf.string, initializer=tf.zeros_initializer()) if 0 else tf.Variable(['x', 'y'])
s = tf.Session()
s.run(tf.global_variables_initializer())
p = tf.placeholder(tf.string, [2])
a = s.run(v.assign(p), {p: np.array(['ä', 'b'], object)}).tolist()
v.load(['c', 'ö'], s)
(a, s.run(v).tolist())
===
p = tf.placeholder(tf.string, [2])
tf.Session().run(tf.identity(p), {p: np.array(['ä', None], object)})
===
p = tf.placeholder(tf.string, [2])
tf.Session().run(tf.identity(p), {p: np.array(['ä', 3], object)})
===
a = tf.ConditionalAccumulator(tf.float32, [2], shared_name='a')
b = tf.ConditionalAccumulator(tf.float32, [3], shared_name='a')
tf.Session().run([a.num_accumulated(), b.num_accumulated()])
===
a = tf.ConditionalAccumulator(tf.float32, [2], shared_name='a')
b = tf.ConditionalAccumulator(tf.float32, [2], shared_name='a')
tf.Session().run([a.num_accumulated(), b.num_accumulated()])
===
a = tf.TextLineReader()
b = tf.raw_ops.TextLineReaderV2(shared_name='r')
c = tf.raw_ops.WholeFileReaderV2(shared_name='r')
R = tf.raw_ops.ReaderNumRecordsProducedV2
tf.Session().run([R(reader_handle=b), R(reader_handle=c)])
===
b = tf.raw_ops.TextLineReaderV2(shared_name='r')
c = tf.raw_ops.TextLineReaderV2(shared_name='r', skip_header_lines=2)
R = tf.raw_ops.ReaderNumRecordsProducedV2
tf.Session().run([R(reader_handle=b), R(reader_handle=c)])
===
a = tf.raw_ops.VariableV2(shape=[2], dtype=tf.float32, shared_name='v')
b = tf.raw_ops.VariableV2(shape=[3], dtype=tf.float32, shared_name='v')
I = tf.raw_ops.IsVariableInitialized if 0 else tf.is_variable_initialized
1
===
o = (tf.constant(1) + 2).op
r = [type(o.inputs).__name__, len(o.inputs), [x.name for x in o.inputs], list(o.inputs)[0].name, bool(o.inputs), o.inputs[0].name, o.inputs[-1].name, [x.name for x in o.inputs[:1]], type(o.inputs[:1]).__name__, bool(tf.constant(1).op.inputs), repr(tf.constant(3).op.inputs), isinstance(o.inputs, (list, tuple)), type(tuple(o.inputs)).__name__]
r
===
(tf.constant(1) + 2).op.inputs.append(3)
===
(tf.constant(1) + 2).op.inputs[0] = 3
===
len((tf.constant(1) + 2).op.inputs + [1])
===
len([1] + (tf.constant(1) + 2).op.inputs)
===
o = (tf.constant(1) + 2).op
(o.inputs == o.inputs, list(o.inputs) == o.inputs, o.inputs is o.inputs)
===
c = tf.constant(1)
o = (c + 2).op
(c in o.inputs, hash(o.inputs) is not None)
===
o = tf.constant(1).op
(type(o.outputs).__name__, type(o.control_inputs).__name__)
===
o = tf.constant(1).op
o.outputs.append(3)
len(o.outputs)
===
from google.protobuf import text_format
g = tf.get_default_graph()
with g._attr_scope({'_A': tf.AttrValue(s=b'x'), '_B': tf.AttrValue(i=3), '_C': tf.AttrValue(b=True), '_L': tf.AttrValue(list=tf.AttrValue.ListValue(i=[1, 2]))}):
    c = tf.constant(1)
    with g._attr_scope({'_A': None, '_B': tf.AttrValue(f=2.5)}):
        e = tf.constant(2)
d = g.as_graph_def().node
([c.op.get_attr(x) for x in ('_A', '_B', '_C', '_L')], [sorted((k for k in n.attr)) for n in d], d[1].attr['_B'].f, d[0].attr['_A'].s, tf.Session().run([c, e]))
===
with tf.get_default_graph()._attr_scope({'_A': 3}):
    pass
===
with tf.get_default_graph()._attr_scope(3):
    pass
===
tf.decode_csv(['a'], [[[1]]])
===
tf.decode_csv(['a'], [tf.constant([[1]])])
===
[str(x.shape) for x in tf.decode_csv(['1'], [tf.constant(1)])]
===
tf.Session().run(tf.decode_csv(['1'], [[1, 2]]))
===
p = tf.placeholder(tf.int32)
tf.Session().run(tf.decode_csv(['1'], [p]), {p: [[1]]})
===
tf.Session().run(tf.decode_csv(['1'], [[]]))
===
tf.train.SessionManager(local_init_op=None, ready_for_local_init_op=tf.report_uninitialized_variables())
===
type(tf.train.SessionManager(local_init_op=tf.no_op(), ready_for_local_init_op=tf.report_uninitialized_variables())).__name__
===
g = tf.Variable([0], trainable=False, dtype=tf.int64, name='global_step')
tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, g)
sv = tf.train.Supervisor(logdir=None)
s = sv.prepare_or_wait_for_session()
sv.stop()
1
===
tf.get_variable('v', [2], synchronization=tf.VariableSynchronization.ON_READ, trainable=True).trainable
===
(tf.get_variable('v', [2], synchronization=tf.VariableSynchronization.ON_READ).trainable, len(tf.trainable_variables()))
===
(tf.Variable([1.0], synchronization=tf.VariableSynchronization.ON_READ, trainable=True).trainable, len(tf.trainable_variables()))
===
tf.get_variable('v', [2], synchronization=tf.VariableSynchronization.ON_READ, trainable=False).trainable
===
r = []
for dt in (tf.int32, tf.float64, tf.int64, tf.float32):
    v = tf.create_partitioned_variables([2, 4], [1, 2], tf.ones([2, 4], dt))
    r.append([(x.dtype.name, str(x.shape)) for x in v])
r
===
v = tf.create_partitioned_variables([2, 4], [1, 2], tf.ones([2, 4], tf.int32), dtype=tf.float32)
v[0].dtype.name
===
v = tf.create_partitioned_variables([2, 4], [1, 2], lambda shape, dtype, partition_info: tf.ones(shape, dtype))
v[0].dtype.name
===
v = tf.create_partitioned_variables([2, 4], [1, 2], np.ones([2, 4], np.int32))
v[0].dtype.name
===
v = tf.create_partitioned_variables([2, 4], [1, 2], tf.reshape(tf.range(8), [2, 4]))
s = tf.Session()
s.run(tf.global_variables_initializer())
s.run(v)
===
x = tf.placeholder_with_default(np.ones([2, 3], np.float32), shape=None)
v = tf.Variable(x, validate_shape=False, name='v')
e = tf.train.ExponentialMovingAverage(0.5)
t = e.apply([v])
s = tf.Session()
s.run(tf.global_variables_initializer())
s.run(v.assign(v * 3.0))
s.run(t)
(s.run(e.average(v)).tolist(), str(e.average(v).shape))
===
x = tf.placeholder_with_default(np.ones([2, 3], np.float32), shape=None)
e = tf.train.ExponentialMovingAverage(0.5)
t = e.apply([x])
s = tf.Session()
s.run(tf.global_variables_initializer())
s.run(t)
str(e.average(x).shape)
===
x = tf.placeholder_with_default(np.ones([2, 3], np.float32), shape=[None, 3])
v = tf.Variable(x, validate_shape=False, name='v')
o = tf.train.AdamOptimizer(0.1)
t = o.minimize(tf.reduce_sum(v * v))
s = tf.Session()
s.run(tf.global_variables_initializer())
s.run(t)
(str(v.shape), str(o.get_slot(v, 'm').shape), s.run(v).round(3).tolist())
===
s = tf.Session()
s.close()
s.run(tf.constant(1))
===
s = tf.Session()
s.close()
s.close()
===
c = tf.constant(1)
s = tf.Session()
f = s.make_callable(c)
f()
s.close()
f()
===
c = tf.constant(1)
s = tf.Session()
s.close()
s.partial_run_setup([c], [])
===
s = tf.Session()
s.close()
s.list_devices()
===
slots(lambda: O.MomentumOptimizer(.1, .9))()
===
slots(lambda: O.AdagradOptimizer(.1))()
===
slots(lambda: O.AdamOptimizer(.1))()
===
slots(lambda: O.RMSPropOptimizer(.1, centered=True))()
===
slots(lambda: O.AdadeltaOptimizer(.1))()
===
slots(lambda: O.ProximalGradientDescentOptimizer(.1))()
===
slots(lambda: O.MomentumOptimizer(.1, .9, use_nesterov=True))()
===
[outcome(lambda: twice('FIFO', 'FIFO', **k)) for k in (dict(capacity=4), dict(types=[tf.float32]), dict(shapes=[[2]]), dict(least=2), dict(seed=9), {})]
===
[outcome(lambda: twice('FIFO', b)) for b in ('FIFO', 'RS', 'PF', 'PQ')]
===
[outcome(lambda: twice('RS', 'RS', **k)) for k in (dict(capacity=4), dict(types=[tf.float32]), dict(shapes=[[2]]), dict(least=2), dict(seed=9), {})]
===
[outcome(lambda: twice('RS', b)) for b in ('FIFO', 'RS', 'PF', 'PQ')]
===
[outcome(lambda: twice('PF', 'PF', **k)) for k in (dict(capacity=4), dict(types=[tf.float32]), dict(shapes=[[2]]), dict(least=2), dict(seed=9), {})]
===
[outcome(lambda: twice('PF', b)) for b in ('FIFO', 'RS', 'PF', 'PQ')]
===
[outcome(lambda: twice('PQ', 'PQ', **k)) for k in (dict(capacity=4), dict(types=[tf.float32]), dict(shapes=[[2]]), dict(least=2), dict(seed=9), {})]
===
[outcome(lambda: twice('PQ', b)) for b in ('FIFO', 'RS', 'PF', 'PQ')]
'''.strip().split("\n===\n")
