/** The server of the benchmark of telemetry with slower timers: under valgrind its code is as much slower, and its spans shall be sent as often. */
const times = 100

const { setTimeout: timeout } = globalThis
const slower = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => timeout(run, ms * times, ...args)
globalThis.setTimeout = Object.assign(slower, timeout)
await import('./telemetry-server.ts')
