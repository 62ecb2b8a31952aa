"""Files and everything that reads or writes them, in snippets for tests/differential.py: values and classes of errors."""
# ruff: noqa: E501
HELPERS = r'''
import os, shutil
def put(p, b=b'hello\nworld\n'):
    with open(p, 'wb') as f:
        f.write(b)
    return p
def var(tf):
    v = tf.get_variable('v', [4], initializer=tf.zeros_initializer())
    s = tf.Session()
    s.run(tf.global_variables_initializer())
    return (v, s)
def ds(tf, d):
    n = tf.data.make_one_shot_iterator(d).get_next()
    r = []
    with tf.Session() as s:
        while True:
            try:
                r.append(s.run(n))
            except tf.errors.OutOfRangeError:
                return r
def rd(tf, R, files, n=3):
    qq = tf.train.string_input_producer(files, shuffle=False, num_epochs=1)
    k, v = R.read(qq)
    with tf.Session() as s:
        s.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
        c = tf.train.Coordinator()
        t = tf.train.start_queue_runners(s, c)
        r = []
        try:
            for _ in range(n):
                r.append(s.run([k, v]))
        except tf.errors.OutOfRangeError:
            r.append('END')
        finally:
            c.request_stop()
            c.join(t, stop_grace_period_secs=2)
        return r
def serial(tf, R, n=1):
    w = tf.python_io.TFRecordWriter('n')
    w.write(b'a' * 8)
    w.close()
    put('m', b'x\ny\n')
    r = R()
    st = r.serialize_state()
    k, v = r.read(tf.train.string_input_producer(['n', 'm'], shuffle=False)) if 0 else (None, None)
    qq = tf.FIFOQueue(9, [tf.string], [[]])
    enq = qq.enqueue_many([['n', 'm']])
    k, v = r.read(qq)
    s = tf.Session()
    s.run(enq)
    out = []
    out.append(s.run(st))
    s.run([k, v])
    b = s.run(st)
    out.append(b)
    ph = tf.placeholder(tf.string)
    s.run(r.restore_state(ph), {ph: b})
    out.append(s.run([r.num_records_produced(), r.num_work_units_completed()]))
    for bad in (b'', b'zz', b[1:], b + b'x'):
        try:
            s.run(r.restore_state(ph), {ph: bad})
            out.append('ok')
        except Exception as e:
            out.append(type(e).__name__)
    return (out, r.supports_serialize, (st.dtype.name, str(st.shape), st.op.type, st.name))
def summ(tf):
    return tf.Summary(value=[tf.Summary.Value(tag='a', simple_value=1.0)])
'''

SNIPPETS = r'''
f = tf.gfile.GFile('a', 'w+')
f.write('testing')
f.flush()
r = f.read()
r
===
f = tf.gfile.GFile('n', 'r+')
f.write('testing')
f.flush()
r = f.read()
f.close()
(r, open('n').read())
===
put('n')
f = tf.gfile.GFile('n', 'r+')
f.write('TEST')
f.flush()
r = f.read()
f.close()
(r, open('n').read())
===
put('n')
f = tf.gfile.GFile('n', 'r+')
r = f.read(5)
f.close()
(r, open('n').read())
===
f = tf.gfile.GFile('n', 'r+')
r = f.read(5)
r
===
put('n')
f = tf.gfile.GFile('n', 'a+')
f.write('X')
f.flush()
r = f.read()
t = f.tell()
f.close()
(r, t, open('n').read())
===
f = tf.gfile.GFile('n', 'a+')
f.write('X')
f.flush()
r = f.read()
f.close()
(r, open('n').read())
===
f = tf.gfile.GFile('n', 'w+')
f.write('abc')
f.tell()
===
f = tf.gfile.GFile('n', 'w')
f.write('abc')
f.tell()
===
put('n')
f = tf.gfile.GFile('n', 'a')
f.write('abc')
f.tell()
===
put('n')
f = tf.gfile.GFile('n', 'r+')
f.write('abc')
a = f.tell()
f.flush()
f.read(2)
(a, f.tell())
===
f = tf.gfile.GFile('n', 'w+')
f.write('abcdef')
f.seek(2)
f.read()
===
f = tf.gfile.GFile('n', 'w')
f.write('abcdef')
f.seek(2)
1
===
f = tf.gfile.GFile('n', 'w')
f.read()
===
put('n')
f = tf.gfile.GFile('n', 'r')
f.write('a')
===
put('n')
f = tf.gfile.GFile('n', 'r')
f.seek()
===
put('n')
f = tf.gfile.GFile('n', 'r')
f.seek(-1)
===
put('n')
f = tf.gfile.GFile('n', 'r')
f.seek(-3, 2)
f.read()
===
put('n')
f = tf.gfile.GFile('n', 'r')
f.seek(300)
(f.read(), f.tell())
===
put('n')
f = tf.gfile.GFile('n', 'r')
f.read(2)
f.seek(2, 1)
(f.read(), f.tell())
===
put('n')
f = tf.gfile.GFile('n', 'r')
f.seek(2, 7)
f.read()
===
put('n')
f = tf.gfile.GFile('n', 'r')
f.seek(position=2)
f.read()
===
r = []
for m in ('r', 'w', 'a', 'r+', 'w+', 'a+', 'rb', 'wb', 'ab', 'rb+', 'r+b', 'wb+', 'w+b', 'ab+', 'x', 'rw', '', 'rt', 'U', 'br', 'bw', '+r'):
    try:
        tf.gfile.GFile('z', m)
        r.append(m + ' ok')
    except Exception as e:
        r.append(m + ' ' + type(e).__name__)
r
===
os.mkdir('d')
tf.gfile.GFile('d').read()
===
os.mkdir('d')
tf.gfile.GFile('d', 'w').write('a')
===
os.mkdir('d')
f = tf.gfile.GFile('d', 'w')
f.close()
===
tf.gfile.GFile('nope').read()
===
with tf.gfile.GFile('nope') as f:
    pass
os.path.exists('nope')
===
with tf.gfile.GFile('nope', 'w') as f:
    pass
os.path.exists('nope')
===
with tf.gfile.GFile('nope', 'a') as f:
    pass
os.path.exists('nope')
===
with tf.gfile.GFile('nope', 'w+') as f:
    pass
os.path.exists('nope')
===
f = tf.gfile.GFile('no/such/x', 'w')
f.write('a')
===
put('n')
f = tf.gfile.GFile('n/x', 'w')
f.write('a')
===
put('n')
tf.gfile.GFile('n/x', 'r').read()
===
f = tf.gfile.GFile('/dev/full', 'w')
f.write('a')
f.flush()
===
f = tf.gfile.GFile('/dev/full', 'w')
f.write('a')
f.close()
===
f = tf.gfile.GFile('n', 'w')
f.write(3)
===
f = tf.gfile.GFile('n', 'wb')
f.write('aä')
f.close()
open('n', 'rb').read()
===
f = tf.gfile.GFile('n', 'w')
f.write(b'a\xff')
f.close()
open('n', 'rb').read()
===
put('n', b'a\xff')
tf.gfile.GFile('n').read()
===
put('n', 'aäbc'.encode())
tf.gfile.GFile('n').read(2)
===
put('n', b'a\r\nb\n\nc')
f = tf.gfile.GFile('n')
[f.readline() for _ in range(6)]
===
put('n', b'a\r\nb\n\nc')
f = tf.gfile.GFile('n', 'rb')
f.readlines()
===
put('n', b'a\r\nb\n\nc')
f = tf.gfile.GFile('n')
list(f)
===
put('n', b'a\nb')
f = tf.gfile.GFile('n')
[next(f), next(f)]
===
put('n')
tf.gfile.GFile('n').size()
===
f = tf.gfile.GFile('n', 'w')
f.write('abc')
f.size()
===
tf.gfile.GFile('n').size()
===
put('n')
f = tf.gfile.GFile('n')
f.read(3)
f.close()
f.read(3)
===
f = tf.gfile.GFile('n', 'w')
f.write('abc')
f.close()
f.write('d')
f.close()
open('n').read()
===
f = tf.gfile.GFile('n', 'w')
(f.name, f.mode)
===
put('n')
f = tf.gfile.GFile(b'n')
(f.read(), f.name)
===
tf.gfile.GFile(None).read()
===
tf.gfile.GFile(3).read()
===
import pathlib
put('n')
tf.gfile.GFile(pathlib.Path('n')).read()
===
tf.gfile.GFile('n').seekable()
===
put('n')
u = 'file://' + os.getcwd() + '/n'
[tf.gfile.GFile(u).read(), tf.gfile.Exists(u), tf.gfile.Stat(u).length, tf.gfile.ListDirectory('file://' + os.getcwd()), [x for x in tf.gfile.Glob('file://' + os.getcwd() + '/*')], list(tf.gfile.Walk('file://' + os.getcwd())), tf.gfile.IsDirectory('file://' + os.getcwd())]
===
tf.gfile.GFile('foo://x/y').read()
===
tf.gfile.Exists('foo://x/y')
===
tf.gfile.MakeDirs('foo://x/y')
===
tf.gfile.Glob('foo://x/y*')
===
os.mkdir('d')
put('d/a')
os.mkdir('d/s')
(sorted(tf.gfile.ListDirectory('d')), sorted(tf.io.gfile.listdir('d')))
===
tf.gfile.ListDirectory('d')
===
put('n')
tf.gfile.ListDirectory('n')
===
os.mkdir('d')
tf.gfile.MkDir('d')
===
put('n')
tf.gfile.MkDir('n')
===
tf.gfile.MkDir('a/b')
===
os.mkdir('d')
tf.gfile.MakeDirs('d')
===
put('n')
tf.gfile.MakeDirs('n')
===
put('n')
tf.gfile.MakeDirs('n/x')
===
tf.gfile.MakeDirs('')
===
tf.gfile.MkDir('')
===
tf.gfile.Remove('n')
===
os.mkdir('d')
tf.gfile.Remove('d')
===
tf.gfile.DeleteRecursively('n')
===
put('n')
tf.gfile.DeleteRecursively('n')
os.path.exists('n')
===
os.makedirs('d/e')
put('d/e/f')
tf.gfile.DeleteRecursively('d')
os.path.exists('d')
===
tf.gfile.Copy('n', 'm')
===
put('n')
put('m')
tf.gfile.Copy('n', 'm')
===
put('n')
put('m', b'x')
tf.gfile.Copy('n', 'm', overwrite=True)
open('m').read()
===
put('n')
os.mkdir('d')
tf.gfile.Copy('n', 'd')
===
put('n')
os.mkdir('d')
tf.gfile.Copy('n', 'd', overwrite=True)
===
put('n')
tf.gfile.Copy('n', 'x/y')
===
put('n', b'')
tf.gfile.Copy('n', 'm')
os.path.exists('m')
===
tf.gfile.Rename('n', 'm')
===
put('n')
put('m')
tf.gfile.Rename('n', 'm')
===
put('n')
put('m', b'x')
tf.gfile.Rename('n', 'm', overwrite=True)
(open('m').read(), os.path.exists('n'))
===
os.mkdir('n')
put('n/a')
tf.gfile.Rename('n', 'm')
os.listdir('m')
===
put('n')
os.mkdir('m')
tf.gfile.Rename('n', 'm', overwrite=True)
===
put('n')
os.mkdir('m')
tf.gfile.Rename('m', 'n', overwrite=True)
===
os.makedirs('n')
os.makedirs('m/x')
tf.gfile.Rename('n', 'm', overwrite=True)
===
put('n')
tf.gfile.Rename('n', 'x/y')
===
tf.gfile.Stat('n')
===
os.mkdir('d')
s = tf.gfile.Stat('d')
s.is_directory
===
put('n')
s = tf.gfile.Stat('n')
(s.is_directory, s.length, s.mtime_nsec > 1e+17)
===
put('.h')
put('a')
put('b')
os.mkdir('d')
put('d/c')
(sorted(tf.gfile.Glob('*')), sorted(tf.gfile.Glob(['a', 'b*'])), sorted(tf.gfile.Glob('*/*')), tf.gfile.Glob('zz*'), sorted(tf.gfile.Glob('?')), sorted(tf.gfile.Glob('[ab]')), sorted(tf.gfile.Glob('[^a]')), sorted(tf.gfile.Glob('{a,b}')), sorted(tf.gfile.Glob('**')), sorted(tf.gfile.Glob('**/c')), tf.gfile.Glob('d/'), tf.gfile.Glob('./a'), tf.gfile.Glob(''))
===
put('a')
tf.gfile.Glob(os.getcwd() + '/*')
===
tf.gfile.Glob('no/*')
===
put('a*b')
put('axb')
(sorted(tf.gfile.Glob('a\\*b')), sorted(tf.gfile.Glob('a[*]b')))
===
list(tf.gfile.Walk('no'))
===
put('a')
list(tf.gfile.Walk('a'))
===
os.makedirs('d/e/f')
put('d/a')
put('d/e/b')
([(a, sorted(b), sorted(c)) for a, b, c in tf.gfile.Walk('d')], [(a, sorted(b), sorted(c)) for a, b, c in tf.gfile.Walk('d', in_order=False)])
===
os.makedirs('d/e/f')
put('d/a')
put('d/e/b')
[(a, sorted(b), sorted(c)) for a, b, c in tf.io.gfile.walk('d', topdown=False)]
===
put('a')
os.mkdir('d')
[tf.gfile.Exists(x) for x in ('a', 'd', 'n', 'a/x', '')]
===
put('a')
os.mkdir('d')
[tf.gfile.IsDirectory(x) for x in ('a', 'd', 'n', 'a/x', '')]
===
put('a')
tf.io.gfile.copy('a', 'b')
tf.io.gfile.rename('b', 'c')
tf.io.gfile.makedirs('x/y')
tf.io.gfile.mkdir('x/z')
tf.io.gfile.rmtree('x')
tf.io.gfile.remove('c')
(tf.io.gfile.exists('a'), tf.io.gfile.isdir('a'), tf.io.gfile.stat('a').length, tf.io.gfile.glob('*'), sorted(tf.io.gfile.listdir('.')))
===
os.mkdir('d')
tf.io.gfile.mkdir('d')
===
put('a')
put('b')
tf.io.gfile.rename('a', 'b')
===
with tf.Session() as s:
    s.run(tf.write_file('/dev/full', 'a'))
===
os.mkdir('d')
with tf.Session() as s:
    s.run(tf.write_file('d', 'a'))
===
with tf.Session() as s:
    s.run(tf.write_file('x/y', 'a'))
open('x/y').read()
===
put('n')
with tf.Session() as s:
    s.run(tf.write_file('n/y', 'a'))
===
with tf.Session() as s:
    s.run(tf.write_file('file://' + os.getcwd() + '/y', 'a'))
open('y').read()
===
with tf.Session() as s:
    s.run(tf.write_file('foo://x', 'a'))
===
o = tf.python_io.TFRecordOptions(2)
[getattr(o, a) for a in 'compression_type flush_mode input_buffer_size output_buffer_size window_bits compression_level compression_method mem_level compression_strategy'.split()]
===
o = tf.python_io.TFRecordOptions('GZIP')
(o.compression_type, tf.python_io.TFRecordOptions.get_compression_type_string(o), tf.python_io.TFRecordOptions.get_compression_type_string(0), tf.python_io.TFRecordOptions.get_compression_type_string(None), tf.python_io.TFRecordOptions.get_compression_type_string('ZLIB'), tf.python_io.TFRecordOptions.get_compression_type_string(1))
===
tf.python_io.TFRecordOptions('LZ4')
===
tf.python_io.TFRecordOptions(7)
===
wr(tf, compression_level=9)
===
w = tf.python_io.TFRecordWriter('r')
w.write(b'a')
w.close()
w.write(b'b')
===
w = tf.python_io.TFRecordWriter('r', 'GZIP')
w.write(b'a')
w.close()
w.write(b'b')
===
w = tf.python_io.TFRecordWriter('r')
w.write(b'a')
w.close()
w.flush()
===
w = tf.python_io.TFRecordWriter('r')
w.write(b'a')
w.close()
w.close()
===
w = tf.python_io.TFRecordWriter('r')
w.write('a')
w.close()
list(tf.python_io.tf_record_iterator('r'))
===
w = tf.python_io.TFRecordWriter('r')
w.write('aä')
w.close()
list(tf.python_io.tf_record_iterator('r'))
===
w = tf.python_io.TFRecordWriter('r')
w.write(3)
===
w = tf.python_io.TFRecordWriter('r')
w.write(None)
===
w = tf.python_io.TFRecordWriter('r')
w.write(bytearray(b'ab'))
w.close()
list(tf.python_io.tf_record_iterator('r'))
===
os.mkdir('r')
tf.python_io.TFRecordWriter('r')
===
tf.python_io.TFRecordWriter('x/r')
===
put('x')
tf.python_io.TFRecordWriter('x/r')
===
w = tf.python_io.TFRecordWriter('/dev/full')
w.write(b'a' * 100000)
w.flush()
===
w = tf.python_io.TFRecordWriter('/dev/full')
w.write(b'a' * 100000)
===
w = tf.python_io.TFRecordWriter('/dev/full')
w.write(b'a')
w.close()
===
w = tf.python_io.TFRecordWriter('/dev/full', 'GZIP')
w.write(b'a')
w.close()
===
w = tf.python_io.TFRecordWriter('file://' + os.getcwd() + '/r')
w.write(b'a')
w.close()
list(tf.python_io.tf_record_iterator('file://' + os.getcwd() + '/r'))
===
w = tf.python_io.TFRecordWriter('r', 'GZIP')
w.write(b'a')
w.close()
list(tf.python_io.tf_record_iterator('r', tf.python_io.TFRecordOptions('GZIP')))
===
w = tf.python_io.TFRecordWriter('r', 2)
w.write(b'a')
w.close()
open('r', 'rb').read()[:2]
===
w = tf.python_io.TFRecordWriter('r', 'XX')
===
list(tf.python_io.tf_record_iterator('r'))
===
tf.python_io.tf_record_iterator('r')
1
===
os.mkdir('r')
list(tf.python_io.tf_record_iterator('r'))
===
w = tf.python_io.TFRecordWriter('r')
w.write(b'a' * 100)
w.close()
b = open('r', 'rb').read()
put('r', b[:50])
list(tf.python_io.tf_record_iterator('r'))
===
put('r', b'sdfsdfsdfsdfsdfsdfsdfsdfsdf')
list(tf.python_io.tf_record_iterator('r'))
===
put('r', b'sdfsdfsdfsdfsdfsdfsdfsdfsdf')
list(tf.python_io.tf_record_iterator('r', 'GZIP'))
===
put('r', b'')
list(tf.python_io.tf_record_iterator('r'))
===
put('r', b'')
list(tf.python_io.tf_record_iterator('r', 'GZIP'))
===
os.mkdir('r')
ds(tf, tf.data.TFRecordDataset('r'))
===
ds(tf, tf.data.TFRecordDataset('r'))
===
w = tf.python_io.TFRecordWriter('r')
w.write(b'a')
w.close()
ds(tf, tf.data.TFRecordDataset('file://' + os.getcwd() + '/r'))
===
os.mkdir('r')
ds(tf, tf.data.TextLineDataset('r'))
===
ds(tf, tf.data.TextLineDataset('r'))
===
put('r')
ds(tf, tf.data.TextLineDataset('file://' + os.getcwd() + '/r'))
===
ds(tf, tf.data.FixedLengthRecordDataset('r', 3))
===
put('r', b'abcdef')
ds(tf, tf.data.FixedLengthRecordDataset('file://' + os.getcwd() + '/r', 3))
===
put('r', b'abcdefg')
ds(tf, tf.data.FixedLengthRecordDataset('r', 3))
===
put('r')
put('.h')
ds(tf, tf.data.Dataset.list_files('file://' + os.getcwd() + '/*', shuffle=False))
===
put('r')
put('.h')
ds(tf, tf.data.Dataset.list_files('*', shuffle=False))
===
ds(tf, tf.data.Dataset.list_files('zz*', shuffle=False))
===
put('r')
ds(tf, tf.data.TextLineDataset('r', 'GZIP'))
===
put('r')
ds(tf, tf.data.TextLineDataset('r', 'ZLIB'))
===
put('r')
ds(tf, tf.data.TFRecordDataset('r', 'GZIP'))
===
put('x')
tf.summary.FileWriter('x/y')
===
put('x')
tf.summary.FileWriter('x')
===
g = tf.get_default_graph()
tf.summary.FileWriter('x', graph=g, graph_def=g.as_graph_def())
===
tf.summary.FileWriter('x', graph=3)
===
g = tf.get_default_graph()
tf.summary.FileWriter('x', graph=g.as_graph_def())
===
g = tf.get_default_graph()
tf.summary.FileWriter('x', graph_def=g.as_graph_def())
===
g = tf.get_default_graph()
tf.summary.FileWriter('x').add_graph(g, graph_def=g.as_graph_def())
===
tf.summary.FileWriter('x').add_graph(None)
===
tf.summary.FileWriter('x').add_graph(3)
===
tf.summary.FileWriter('x').add_summary(3)
===
tf.summary.FileWriter('x').add_summary('abc')
===
tf.summary.FileWriter('x').add_summary(b'\xff\xff\xff')
===
w = tf.summary.FileWriter('x')
w.close()
w.add_summary(summ(tf), 1)
w.flush()
w.close()
1
===
w = tf.summary.FileWriter('file://' + os.getcwd() + '/x')
w.add_summary(summ(tf), 1)
w.close()
(len(os.listdir('x')), w.get_logdir())
===
tf.summary.FileWriter(None)
===
w = tf.summary.FileWriter('x', filename_suffix='.zz')
w.close()
os.listdir('x')[0].endswith('.zz')
===
tf.summary.FileWriter('x').add_meta_graph(3)
===
w = tf.summary.FileWriter('x')
w.add_run_metadata(tf.RunMetadata(), 'a')
w.add_run_metadata(tf.RunMetadata(), 'a')
===
tf.summary.FileWriter('x').add_session_log(3)
===
w = tf.summary.FileWriter('x')
shutil.rmtree('x')
w.add_summary(summ(tf), 1)
w.flush()
w.close()
os.path.exists('x')
===
w = tf.summary.FileWriter('x')
w.add_summary(summ(tf), 1.7)
w.close()
[e.step for e in tf.train.summary_iterator('x/' + os.listdir('x')[0])]
===
list(tf.train.summary_iterator('no'))
===
os.mkdir('d')
list(tf.train.summary_iterator('d'))
===
v, s = var(tf)
put('x')
tf.train.Saver().save(s, 'x/model')
===
v, s = var(tf)
tf.train.Saver().save(s, 'y/model')
===
v, s = var(tf)
tf.train.Saver().save(s, 'y/z/model')
===
v, s = var(tf)
os.mkdir('m')
tf.train.Saver().save(s, 'm')
===
v, s = var(tf)
p = tf.train.Saver().save(s, 'file://' + os.getcwd() + '/m')
s.run(v.assign([1, 2, 3, 4]))
tf.train.Saver().restore(s, p)
(p, s.run(v), sorted(os.listdir('.')), open('checkpoint').read())
===
v, s = var(tf)
u = 'file://' + os.getcwd()
sv = tf.train.Saver(max_to_keep=1)
sv.save(s, u + '/m', 1)
sv.save(s, u + '/m', 2)
(tf.train.latest_checkpoint(u), tf.train.latest_checkpoint('.'), sorted(os.listdir('.')), tf.train.checkpoint_exists(u + '/m-2'), [n for n, _ in tf.train.list_variables(u + '/m-2')], tf.train.load_variable(u + '/m-2', 'v'), len(tf.train.get_checkpoint_mtimes([u + '/m-2'])), tf.train.get_checkpoint_state(u).model_checkpoint_path)
===
v, s = var(tf)
u = 'file://' + os.getcwd()
p = tf.train.Saver(write_version=1).save(s, u + '/m')
tf.train.Saver(write_version=1).restore(s, p)
(p, sorted(os.listdir('.')), tf.train.load_variable(p, 'v'))
===
v, s = var(tf)
u = 'file://' + os.getcwd()
p = tf.train.Saver(sharded=True).save(s, u + '/m')
tf.train.Saver().restore(s, p)
(p, sorted(os.listdir('.')))
===
v, s = var(tf)
tf.train.Saver().save(s, 'foo://x/m')
===
v, s = var(tf)
tf.train.Saver(defer_build=True).save(s, 'm')
===
v, s = var(tf)
sv = tf.train.Saver(defer_build=True)
sv.build()
sv.build()
sv.save(s, 'm')
===
v, s = var(tf)
sv = tf.train.Saver(defer_build=True)
sv.export_meta_graph().HasField('saver_def')
===
v, s = var(tf)
tf.train.Saver(defer_build=True).as_saver_def()
===
v, s = var(tf)
tf.train.Saver(defer_build=True).to_proto()
===
v, s = var(tf)
tf.train.Saver([v], defer_build=True)
===
v, s = var(tf)
tf.train.Saver().save(s, '')
===
v, s = var(tf)
tf.train.Saver().save(s, None)
===
v, s = var(tf)
tf.train.Saver().save(s, 'checkpoint')
===
v, s = var(tf)
tf.train.Saver().save(s, 'checkpoint', 1)
===
v, s = var(tf)
tf.train.Saver().save(s, os.getcwd() + '/')
===
v, s = var(tf)
(tf.train.Saver().save(s, '.'), sorted(os.listdir('.')))
===
v, s = var(tf)
tf.train.Saver().save(s, 'm', latest_filename='a/b')
===
v, s = var(tf)
tf.train.Saver().save(None, 'm')
===
v, s = var(tf)
sv = tf.train.Saver()
s.close()
sv.save(s, 'm')
===
v, s = var(tf)
sv = tf.train.Saver()
sv.save(s, 'm')
s.close()
sv.restore(s, 'm')
===
v, s = var(tf)
tf.train.Saver().restore(s, None)
===
v, s = var(tf)
tf.train.Saver().restore(s, 'nope')
===
v, s = var(tf)
put('m.index')
put('m.data-00000-of-00001')
tf.train.Saver().restore(s, 'm')
===
v, s = var(tf)
put('m')
tf.train.Saver().restore(s, 'm')
===
v, s = var(tf)
sv = tf.train.Saver()
sv.save(s, 'm')
os.remove('m.data-00000-of-00001')
sv.restore(s, 'm')
===
v, s = var(tf)
sv = tf.train.Saver()
sv.save(s, 'm')
put('m.data-00000-of-00001', b'a' * 16)
sv.restore(s, 'm')
===
v, s = var(tf)
sv = tf.train.Saver()
sv.save(s, 'm')
os.remove('m.data-00000-of-00001')
os.mkdir('m.data-00000-of-00001')
sv.restore(s, 'm')
===
v, s = var(tf)
sv = tf.train.Saver()
sv.save(s, 'm')
os.remove('m.index')
os.mkdir('m.index')
sv.restore(s, 'm')
===
v, s = var(tf)
g = tf.train.create_global_step()
s.run(tf.global_variables_initializer())
(tf.train.Saver().save(s, 'm', g), tf.train.Saver().save(s, 'm', 'global_step:0'), tf.train.Saver().save(s, 'm', np.int32(4)))
===
v, s = var(tf)
tf.train.Saver().save(s, 'm', 1.5)
===
v, s = var(tf)
tf.train.Saver().save(s, 'm', 'nope')
===
tf.train.Saver(3)
===
tf.train.Saver([tf.constant(3)])
===
tf.train.Saver()
===
tf.train.Saver([])
===
v, s = var(tf)
tf.train.Saver([v, v])
===
v, s = var(tf)
tf.train.Saver({'a': v, 'b': v}).save(s, 'm')
===
v, s = var(tf)
tf.train.Saver((v,)).save(s, 'm')
===
v, s = var(tf)
tf.train.Saver([v], name='a b')
===
v, s = var(tf)
tf.train.Saver().set_last_checkpoints(('a',))
===
v, s = var(tf)
tf.train.Saver().set_last_checkpoints_with_time(('a',))
===
v, s = var(tf)
sv = tf.train.Saver()
sv.save(s, 'm', 1)
sv.save(s, 'm', 2)
t = tf.train.Saver(name='u')
t.recover_last_checkpoints(['m-1', 'm-2', 'm-3'])
t.last_checkpoints
===
v, s = var(tf)
sv = tf.train.Saver(max_to_keep=2)
for i in range(4):
    sv.save(s, 'm', i)
(sorted(os.listdir('.')), sv.last_checkpoints, open('checkpoint').read())
===
v, s = var(tf)
sv = tf.train.Saver(max_to_keep=None)
for i in range(7):
    sv.save(s, 'm', i)
(len(os.listdir('.')), sv.last_checkpoints, len(open('checkpoint').read().splitlines()))
===
v, s = var(tf)
sv = tf.train.Saver(max_to_keep=0)
for i in range(7):
    sv.save(s, 'm', i)
(len(os.listdir('.')), sv.last_checkpoints)
===
v, s = var(tf)
os.mkdir('d')
sv = tf.train.Saver(save_relative_paths=True)
sv.save(s, os.getcwd() + '/d/m', 1)
open('d/checkpoint').read()
===
v, s = var(tf)
tf.train.Saver(pad_step_number=True).save(s, 'm', 3)
===
v, s = var(tf)
tf.train.Saver().save(s, 'm', write_meta_graph=False, write_state=False)
sorted(os.listdir('.'))
===
v, s = var(tf)
tf.train.Saver().save(s, 'm', meta_graph_suffix='zz')
sorted(os.listdir('.'))
===
v, s = var(tf)
os.mkdir('m-1.meta')
sv = tf.train.Saver()
try:
    r = sv.save(s, 'm', 1)
except Exception as e:
    r = type(e).__name__
(r, os.path.exists('checkpoint') and open('checkpoint').read(), sv.last_checkpoints)
===
put('checkpoint', b'all_model_checkpoint_paths: "a"\n')
tf.train.get_checkpoint_state('.')
===
put('checkpoint', b'all_model_checkpoint_paths: "a"\n')
tf.train.latest_checkpoint('.')
===
put('checkpoint', b'')
tf.train.get_checkpoint_state('.')
===
put('checkpoint', b'garbage {')
tf.train.latest_checkpoint('.')
===
os.mkdir('checkpoint')
tf.train.get_checkpoint_state('.')
===
(tf.train.get_checkpoint_state('.'), tf.train.get_checkpoint_state('nodir'), tf.train.latest_checkpoint('nodir'))
===
tf.train.get_checkpoint_state(None)
===
tf.train.latest_checkpoint(None)
===
tf.train.update_checkpoint_state('.', 'm-2', ['m-1'])
open('checkpoint').read()
===
tf.train.update_checkpoint_state(os.getcwd(), os.getcwd() + '/checkpoint')
===
tf.train.update_checkpoint_state('nodir', 'm')
===
(str(tf.train.generate_checkpoint_state_proto('/d', '/d/m', ['/d/m', '/d/a'])),)
===
tf.train.generate_checkpoint_state_proto('/d', '/d/m', ['/d/m'], [1.0, 2.0])
===
v, s = var(tf)
tf.train.Saver().save(s, 'm')
tf.train.remove_checkpoint('m')
sorted(os.listdir('.'))
===
tf.train.remove_checkpoint('m')
===
v, s = var(tf)
tf.train.Saver().save(s, 'm')
(tf.train.checkpoint_exists('m'), tf.train.checkpoint_exists('q'), tf.train.checkpoint_exists(''))
===
v, s = var(tf)
tf.train.Saver().save(s, 'm')
len(tf.train.get_checkpoint_mtimes(['m', 'q']))
===
tf.train.NewCheckpointReader('nope')
===
v, s = var(tf)
tf.train.Saver().save(s, 'm')
r = tf.train.NewCheckpointReader('m')
(r.get_tensor('v'), r.has_tensor('v'), r.has_tensor('z'), r.get_variable_to_shape_map(), {k: v.name for k, v in r.get_variable_to_dtype_map().items()})
===
v, s = var(tf)
tf.train.Saver().save(s, 'm')
r = tf.train.NewCheckpointReader('m')
r.get_tensor('z')
===
v, s = var(tf)
os.mkdir('d')
tf.train.Saver().save(s, 'd/m')
(tf.train.list_variables('d'), tf.train.load_variable('d', 'v'))
===
os.mkdir('d')
tf.train.list_variables('d')
===
tf.train.list_variables('d')
===
v, s = var(tf)
tf.train.Saver().save(s, 'm')
tf.train.load_variable('m', 'z')
===
v = tf.get_variable('v', [3])
tf.train.init_from_checkpoint('nope', {'/': '/'})
===
tf.train.import_meta_graph('nope')
===
put('m', b'garbage')
tf.train.import_meta_graph('m')
===
os.mkdir('m')
tf.train.import_meta_graph('m')
===
put('m', b'')
tf.train.import_meta_graph('m')
===
tf.train.import_meta_graph(3)
===
tf.train.import_meta_graph(None)
===
tf.train.import_meta_graph(tf.GraphDef())
===
v, s = var(tf)
tf.train.Saver().save(s, 'm')
tf.reset_default_graph()
sv = tf.train.import_meta_graph('file://' + os.getcwd() + '/m.meta')
type(sv).__name__
===
v, s = var(tf)
tf.train.Saver().export_meta_graph('t', as_text=True)
tf.reset_default_graph()
sv = tf.train.import_meta_graph('t')
[o.name for o in tf.get_default_graph().get_operations()][:3]
===
p = tf.placeholder(tf.float32, name='image')
v, s = var(tf)
tf.train.Saver().save(s, 'm')
tf.reset_default_graph()
with tf.name_scope('new_model'):
    sv = tf.train.import_meta_graph('m.meta')
g = tf.get_default_graph()
r = ([o.name for o in g.get_operations()], [x.name for x in tf.global_variables()], sv.as_saver_def().save_tensor_name)
with tf.Session() as s:
    sv.restore(s, 'm')
r
===
p = tf.placeholder(tf.float32, name='image')
v, s = var(tf)
tf.train.Saver().save(s, 'm')
tf.reset_default_graph()
with tf.name_scope('a'):
    sv = tf.train.import_meta_graph('m.meta', import_scope='b')
g = tf.get_default_graph()
([o.name for o in g.get_operations()][:4], [x.name for x in tf.global_variables()], sv.as_saver_def().save_tensor_name)
===
p = tf.placeholder(tf.float32, name='image')
v, s = var(tf)
tf.train.Saver().save(s, 'm')
tf.reset_default_graph()
with tf.variable_scope('a'):
    sv = tf.train.import_meta_graph('m.meta')
g = tf.get_default_graph()
([o.name for o in g.get_operations()][:4], [x.name for x in tf.global_variables()], sv.as_saver_def().save_tensor_name)
===
p = tf.placeholder(tf.float32, name='image')
v, s = var(tf)
tf.train.Saver().save(s, 'm')
tf.reset_default_graph()
a = tf.train.import_meta_graph('m.meta', import_scope='b')
b = tf.train.import_meta_graph('m.meta', import_scope='b')
g = tf.get_default_graph()
(len(g.get_operations()), [x.name for x in tf.global_variables()], b.as_saver_def().save_tensor_name)
===
p = tf.placeholder(tf.float32, name='image')
v, s = var(tf)
tf.train.Saver().save(s, 'm')
tf.reset_default_graph()
tf.constant(1, name='new_model/x')
with tf.name_scope('new_model'):
    pass
with tf.name_scope('new_model'):
    sv = tf.train.import_meta_graph('m.meta')
([o.name for o in tf.get_default_graph().get_operations()][:4], [x.name for x in tf.global_variables()])
===
p = tf.placeholder(tf.float32, name='image')
tf.train.export_meta_graph('m')
tf.reset_default_graph()
tf.train.import_meta_graph('m')
===
p = tf.placeholder(tf.float32, name='image')
y = tf.identity(p, name='y')
tf.train.export_meta_graph('m')
tf.reset_default_graph()
c = tf.constant(2.0)
tf.train.import_meta_graph('m', input_map={'image:0': c})
tf.Session().run('y:0')
===
p = tf.placeholder(tf.float32, name='image')
y = tf.identity(p, name='y')
tf.train.export_meta_graph('m')
tf.reset_default_graph()
str(tf.train.import_meta_graph('m', return_elements=['y:0']))
===
v, s = var(tf)
w = tf.get_variable('w', [2])
a = tf.train.Saver(name='one')
b = tf.train.Saver(name='two')
r = []
for sv in (a, b):
    m = sv.export_meta_graph(clear_extraneous_savers=True)
    r.append((len(m.graph_def.node), sorted((n.name for n in m.graph_def.node if 'save' in n.name or 'one' in n.name or 'two' in n.name)), sorted(m.collection_def)))
m = tf.train.export_meta_graph(clear_extraneous_savers=True)
r.append((len(m.graph_def.node), sorted(m.collection_def)))
m = tf.train.export_meta_graph()
r.append((len(m.graph_def.node), sorted(m.collection_def)))
r
===
v, s = var(tf)
w = tf.get_variable('w', [2])
a = tf.train.Saver(name='one')
b = tf.train.Saver(name='two', write_version=1)
m = a.export_meta_graph(clear_extraneous_savers=True)
(len(m.graph_def.node), sorted((n.name for n in m.graph_def.node)), sorted(m.collection_def))
===
with tf.variable_scope('h'):
    v, s = var(tf)
    w = tf.get_variable('w', [2])
    a = tf.train.Saver(name='one')
    b = tf.train.Saver(name='two')
m, _ = (tf.train.export_meta_graph(clear_extraneous_savers=True, export_scope='h'), 0)
(len(m.graph_def.node), sorted((n.name for n in m.graph_def.node)), sorted(m.collection_def))
===
put('x')
tf.constant(1)
tf.train.export_meta_graph('x/y')
===
tf.constant(1)
tf.train.export_meta_graph('no/y')
os.path.exists('no/y')
===
tf.constant(1)
tf.train.export_meta_graph('file://' + os.getcwd() + '/y')
os.path.exists('y')
===
tf.constant(1)
(tf.train.write_graph(tf.get_default_graph(), 'a/b', 'c'), tf.train.write_graph(tf.get_default_graph(), '', 'c'), sorted(os.listdir('.')))
===
tf.constant(1)
(tf.train.write_graph(tf.get_default_graph(), 'file://' + os.getcwd() + '/z', 'c'), sorted(os.listdir('.')))
===
put('x')
tf.constant(1)
tf.train.write_graph(tf.get_default_graph(), 'x/b', 'c')
===
tf.saved_model.loader.load(tf.Session(), ['serve'], 'no')
===
v, s = var(tf)
u = 'file://' + os.getcwd() + '/e'
tf.saved_model.simple_save(s, u, {'a': v}, {'b': v})
tf.reset_default_graph()
s = tf.Session()
tf.saved_model.loader.load(s, ['serve'], u)
(sorted(os.listdir('e')), s.run('v:0'), tf.saved_model.loader.maybe_saved_model_directory(u))
===
os.mkdir('e')
put('e/x')
tf.saved_model.builder.SavedModelBuilder('e')
===
put('e')
tf.saved_model.builder.SavedModelBuilder('e/x')
===
os.mkdir('e')
put('e/saved_model.pb', b'\xff\xff')
tf.saved_model.loader.load(tf.Session(), ['serve'], 'e')
===
os.mkdir('e')
put('e/saved_model.pbtxt', b'garbage')
tf.saved_model.loader.load(tf.Session(), ['serve'], 'e')
===
v, s = var(tf)
tf.saved_model.simple_save(s, 'e', {'a': v}, {'b': v})
tf.saved_model.loader.load(tf.Session(), ['zz'], 'e')
===
v, s = var(tf)
d = tf.train.SaverDef()
tf.train.Saver(saver_def=d)
===
tf.gfile.GFile('/dev/zero', 'rb').read(5)
===
put('n', 'aäb'.encode())
f = tf.gfile.GFile('n')
(f.read(3), f.tell(), f.read())
===
put('n')
(tf.gfile.Exists('file://localhost' + os.getcwd() + '/n'), tf.gfile.Exists('file://n'), tf.gfile.Exists('FILE://' + os.getcwd() + '/n'))
===
put('n')
tf.gfile.GFile('n').read(0)
===
put('n')
tf.gfile.GFile('n', 'a').read()
===
put('n')
tf.gfile.GFile('n').flush()
===
tf.gfile.GFile('n').tell()
===
([type(x).__name__ for x in (tf.io.gfile.stat('.'),)], tf.io.gfile.stat(path='.').is_directory, tf.io.gfile.exists(path='.'), tf.io.gfile.glob(pattern='*'), list(tf.io.gfile.walk(top='.', topdown=True)))
===
put('n'); u = 'file://' + os.getcwd() + '/n'
run = tf.Session().run
[run(tf.read_file(u)), run(tf.read_file('/dev/null')), list(run(tf.matching_files(['file://' + os.getcwd() + '/*', '*', 'no/*', ''])))]
===
os.mkdir('d')
tf.Session().run(tf.read_file('d'))
===
tf.Session().run(tf.read_file('n'))
===
put('n')
tf.Session().run(tf.read_file('n/x'))
===
tf.Session().run(tf.read_file('x' * 300))
===
tf.Session().run(tf.read_file(''))
===
[outcome(lambda: rd(tf, R(), ['d'])) for R in (tf.WholeFileReader, tf.TextLineReader, tf.TFRecordReader, lambda: tf.FixedLengthRecordReader(4))]
===
os.mkdir('d')
[outcome(lambda: rd(tf, R(), ['d'])) for R in (tf.WholeFileReader, tf.TextLineReader, tf.TFRecordReader, lambda: tf.FixedLengthRecordReader(4))]
===
w = tf.python_io.TFRecordWriter('n')
w.write(b'a' * 8)
w.close()
[rd(tf, R(), ['file://' + os.getcwd() + '/n']) for R in (tf.WholeFileReader, tf.TextLineReader, tf.TFRecordReader, lambda: tf.FixedLengthRecordReader(4))]
===
put('n', b'')
[rd(tf, R(), ['n']) for R in (tf.WholeFileReader, tf.TextLineReader, tf.TFRecordReader, lambda: tf.FixedLengthRecordReader(4))]
===
[outcome(lambda: serial(tf, R)) for R in (tf.WholeFileReader, tf.IdentityReader, tf.TextLineReader, tf.TFRecordReader)]
===
data = [bytes(np.random.RandomState(i).randint(0, 9, 800).astype(np.uint8)) for i in range(20)]
def size(**settings):
    options = tf.python_io.TFRecordOptions('ZLIB', **settings)
    with tf.python_io.TFRecordWriter('r', options) as writer:
        [writer.write(d) for d in data]
    assert list(tf.python_io.tf_record_iterator('r', options)) == data
    return os.path.getsize('r')
[size(), size(compression_level=1), size(compression_level=9), size(compression_strategy=2), size(mem_level=1), size(window_bits=9)]
'''.strip().split("\n===\n")
