/** `createRuntime`: the one place that assembles a runtime from its parts. */
import { WitanError } from '@witan/protocol'
import { localPrincipal, type Principal } from './identity/principal.ts'
import type { Runtime } from './runtime/contract.ts'
import { seed } from './runtime/databases.ts'
import { createHealth } from './runtime/health.ts'
import { rememberedReplies } from './runtime/idempotency.ts'
import { startListening } from './runtime/listening.ts'
import { keyLookup } from './runtime/keys.ts'
import { usedEvidence } from './runtime/used-evidence.ts'
import { signingKeys } from './runtime/signing-keys.ts'
import { publishedAgents } from './runtime/published.ts'
import { createWitan } from './runtime/witan.ts'
import type { RuntimeOptions } from './runtime/options.ts'
import { type Parts, wire } from './runtime/wiring.ts'

/**
 * Creates a runtime. It opens its store, stores its code agents and resumes interrupted runs by itself. Every method waits
 * for that; `ready` reports the result. `close()` releases its jobs to other processes.
 */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  const parts = wire(options)
  const ready = start(parts, options.listening)
  ready.catch(() => {})
  let isClosed = false
  const opened = () => (isClosed ? Promise.reject<void>(closed()) : ready)
  const openedFor = (database: string) => () => opened().then(() => parts.preparing.prepare(database))
  const as = (principal: Principal) => createWitan(parts, principal, openedFor(principal.database))
  let closing: Promise<void> | null = null
  return {
    ...as(localPrincipal),
    as,
    ready,
    idempotency: rememberedReplies(parts, opened),
    keyLookup: keyLookup(parts, opened),
    published: publishedAgents(parts, opened),
    signingKeys: signingKeys(parts, opened),
    usedEvidence: usedEvidence(parts, opened),
    health: createHealth(parts, opened),
    flushTraces: async (withinMs = 30_000) => (await parts.telemetry?.flush(withinMs)) ?? true,
    close: ({ tracesWithinMs = 2_000 } = {}) => {
      const over = () => {
        isClosed = true
      }
      closing ??= stop(parts, ready, { over, tracesWithinMs })
      return closing
    },
  }
}

/** Stores the definitions of the code in the database `default`, as `source: code`, before any work is claimed [F10]. */
async function start(parts: Parts, listening: RuntimeOptions['listening']): Promise<void> {
  await parts.store.open()
  const { database } = localPrincipal
  await seed({ ...parts, report: parts.env.report }, database)
  await parts.registry.ensure(database)
  parts.preparing.isPrepared(database)
  parts.listening.current = startListening(parts, listening)
  await parts.worker.open()
  parts.ingests.open()
}

/** Closes the parts. `over` is called when all work has stopped, before the store closes: no work is accepted afterwards. */
async function stop(
  parts: Parts,
  ready: Promise<void>,
  { over, tracesWithinMs }: { readonly over: () => void; readonly tracesWithinMs: number },
): Promise<void> {
  const opened = await ready.then(
    () => true,
    () => false,
  )
  parts.expiry.close()
  parts.listening.current?.close()
  if (opened) await Promise.all([parts.worker.close(), parts.ingests.close()])
  parts.env.timeLimit.close()
  over()
  const hint = 'Its result is in the store: getRun reads it.'
  parts.tracker.close(new WitanError('RUNTIME_CLOSED', 'The runtime was closed; the run goes on elsewhere.', { hint }))
  await parts.telemetry?.close(tracesWithinMs)
  for (const source of parts.sources.values()) await source.close()
  await parts.mcp.servers?.close()
  await parts.readers.close()
  await parts.store.close()
}

function closed(): WitanError {
  return new WitanError('RUNTIME_CLOSED', 'The runtime is closed.', {
    hint: 'Create another one with createRuntime; on the same store it resumes interrupted runs.',
  })
}
