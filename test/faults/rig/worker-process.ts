/**
 * A server that can be tortured: `witan serve`, loaded beforehand and told by lines of JSON on its standard input when to start,
 * which fault points to arm, how wrong its clock is, and how much newer it is. Everything it runs is the command line's own.
 */
import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { flushCompileCache } from 'node:module'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { processTerminal, runCommandLine } from '@witan/cli'
import { armFaults, type LaterSchema, learnLaterSchema } from '@witan/core/testing'
import { serveDatabases } from './databases.ts'
import { type Doom, expectDoom } from './doom.ts'
import { skewClock } from './skew.ts'
import './world.ts'

/** Of the same kind as this file: both are bundled, or neither. */
const config = fileURLToPath(new URL(`witan.config.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url))

interface Order {
  readonly faults?: string
  readonly doom?: Doom
  readonly skewMs?: number
  readonly env?: Readonly<Record<string, string>>
  /** Collects garbage and reports what is held for readers. */
  readonly held?: true
}

function obey({ faults, doom, skewMs, env, held }: Order): void {
  if (held === true) return collect()
  if (faults !== undefined) armFaults(faults)
  if (doom !== undefined) expectDoom(doom)
  if (skewMs !== undefined) skewClock(skewMs)
  if (env === undefined) return console.log('{"type":"armed"}')
  Object.assign(process.env, env)
  const later = process.env['TORTURE_SCHEMA']
  if (later !== undefined) learnLaterSchema(JSON.parse(later) as LaterSchema)
  const others = process.env['TORTURE_DATABASES']
  if (others !== undefined) return void serveDatabases(config, others.split(','))
  void runCommandLine(['serve', '--config', config], processTerminal()).then((code) => process.exit(code))
}

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

/** What keeps things for a reader. */
interface Buffering {
  heldBytes(): number
}

/** Of what is garbage nothing is held: the references are weak. */
const buffers: WeakRef<Buffering>[] = []
const keep = (buffer: Buffering): void => void buffers.push(new WeakRef(buffer))
const responses: WeakRef<ServerResponse>[] = []
subscribe('witan.stream', (queue) => keep(queue as Buffering))
subscribe('witan.tail', (inbox) => keep(inbox as Buffering))
subscribe('http.server.request.start', (message) => {
  const { response } = message as { readonly response: ServerResponse }
  responses.push(new WeakRef(response))
})

/** Collects garbage in a turn of its own, since a reference that was just read is kept to the end of its turn. */
function collect(): void {
  setImmediate(() => {
    gc()
    const queued = buffers.reduce((sum, buffer) => sum + (buffer.deref()?.heldBytes() ?? 0), 0)
    const written = responses.reduce((sum, response) => sum + (response.deref()?.writableLength ?? 0), 0)
    console.log(JSON.stringify({ type: 'held', bytes: queued + written }))
  })
}

const orders = createInterface({ input: process.stdin })
orders.on('line', (line) => obey(JSON.parse(line) as Order))
// Nobody is there to give orders any more.
orders.on('close', () => process.exit(0))
flushCompileCache()
console.log('{"type":"warm"}')
