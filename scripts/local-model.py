"""Serves a small model, by the name of the second argument, over chat completions on a free port of 127.0.0.1; prints the address, and ends with its standard input."""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {sys.argv[2]}
params.n_ctx = 8192
params.n_parallel = 1
# Threads wait for each other by spinning, which on a busy machine costs more than it brings.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
# A small model seldom knows when to stop.
params.n_predict = 64
params.use_jinja = True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
while sys.stdin.read(1):
    pass
