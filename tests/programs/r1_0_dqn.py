# Q-learning on a corridor: two networks, one copied to the other, a memory of steps.
import random
import sys
from collections import deque

import numpy as np
import tensorflow as tf

random.seed(0)
np.random.seed(0)
tf.set_random_seed(0)
LENGTH, GAMMA, BATCH = 6, 0.9, 32


class DQN():
    def __init__(self):
        self.replay_buffer = deque(maxlen=500)
        self.epsilon = 1.0
        self.state_input = tf.placeholder("float", [None, LENGTH])
        with tf.variable_scope('eval_net'):
            self.Q_value = self.create_network(['eval_params', tf.GraphKeys.GLOBAL_VARIABLES])
        with tf.variable_scope('target_net'):
            self.Q_target = self.create_network(['target_params', tf.GraphKeys.GLOBAL_VARIABLES])
        t_params, e_params = tf.get_collection('target_params'), tf.get_collection('eval_params')
        self.replace_target_op = [tf.assign(t, e) for t, e in zip(t_params, e_params)]
        self.action_input = tf.placeholder("float", [None, 2])
        self.y_input = tf.placeholder("float", [None])
        Q_action = tf.reduce_sum(tf.multiply(self.Q_value, self.action_input), reduction_indices=1)
        self.cost = tf.reduce_mean(tf.square(self.y_input - Q_action))
        self.optimizer = tf.train.AdamOptimizer(0.01).minimize(self.cost, var_list=e_params)
        self.session = tf.InteractiveSession()
        self.session.run(tf.global_variables_initializer())

    def create_network(self, c_names):
        w_init, b_init = tf.random_normal_initializer(0., 0.3), tf.constant_initializer(0.1)
        with tf.variable_scope('l1'):
            w1 = tf.get_variable('w1', [LENGTH, 16], initializer=w_init, collections=c_names)
            b1 = tf.get_variable('b1', [1, 16], initializer=b_init, collections=c_names)
            l1 = tf.nn.relu(tf.matmul(self.state_input, w1) + b1)
        with tf.variable_scope('l2'):
            w2 = tf.get_variable('w2', [16, 2], initializer=w_init, collections=c_names)
            b2 = tf.get_variable('b2', [1, 2], initializer=b_init, collections=c_names)
            return tf.matmul(l1, w2) + b2

    def action(self, state, greedy=False):
        if not greedy and random.random() <= self.epsilon:
            return random.randint(0, 1)
        return np.argmax(self.Q_value.eval(feed_dict={self.state_input: [state]})[0])

    def train_Q_network(self):
        states, actions, rewards, next_states, done = zip(*random.sample(self.replay_buffer, BATCH))
        Q_next = self.Q_target.eval(feed_dict={self.state_input: next_states})
        y_batch = np.array(rewards) + GAMMA * np.max(Q_next, 1) * (1 - np.array(done))
        self.optimizer.run(feed_dict={self.y_input: y_batch, self.action_input: actions, self.state_input: states})


def walk(place, action):
    place = max(0, place + (1 if action else -1))
    return place, float(place == LENGTH - 1), place == LENGTH - 1


agent = DQN()
steps = 0
for episode in range(40):
    place = 0
    for _ in range(25):
        state = np.eye(LENGTH)[place]
        action = agent.action(state)
        place, reward, done = walk(place, action)
        agent.replay_buffer.append((state, np.eye(2)[action], reward, np.eye(LENGTH)[place], float(done)))
        steps += 1
        if len(agent.replay_buffer) > BATCH:
            agent.train_Q_network()
        if steps % 40 == 0:
            agent.session.run(agent.replace_target_op)
        if done:
            break
    agent.epsilon = max(0.1, agent.epsilon - 0.03)
saver = tf.train.Saver()
path = saver.save(agent.session, sys.argv[1] + "/dqn.ckpt")
agent.session.run(tf.global_variables_initializer())
saver.restore(agent.session, path)
print("score", sum(agent.action(np.eye(LENGTH)[k], greedy=True) for k in range(LENGTH - 1)))
agent.session.close()
