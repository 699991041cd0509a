/** `createRuntime`: the one place where the parts become a runtime. */
import { WitanError } from '@witan/protocol'
import { localPrincipal, type Principal } from './identity/principal.ts'
import { saveAgents } from './agent/desk/desk.ts'
import type { Runtime } from './runtime/contract.ts'
import { startHearing } from './runtime/hearing.ts'
import { idempotencyDesk } from './runtime/idempotency.ts'
import { createWitan } from './runtime/witan.ts'
import { type Parts, type RuntimeOptions, wire } from './runtime/wiring.ts'

/**
 * Makes a runtime. It opens its store, stores its code agents and takes up interrupted runs by itself; every method waits for
 * that, and `ready` tells how it went. Close it to hand its jobs on.
 */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  const parts = wire(options)
  const ready = start(parts)
  ready.catch(() => {})
  let isClosed = false
  const opened = () => (isClosed ? Promise.reject<void>(closed()) : ready)
  const as = (principal: Principal) => createWitan(parts, principal, opened)
  let closing: Promise<void> | null = null
  return {
    ...as(localPrincipal),
    as,
    ready,
    idempotency: idempotencyDesk(parts, opened),
    close: () => {
      closing ??= stop(parts, ready, () => {
        isClosed = true
      })
      return closing
    },
  }
}

/** Code agents are stored, as `source: code`, before any work is taken up [F10]. */
async function start(parts: Parts): Promise<void> {
  await parts.store.open()
  const desk = parts.deskOf(localPrincipal.database)
  const agents = parts.agents.map((agent) => ('data' in agent ? agent.data : agent))
  if (agents.length > 0) await saveAgents(desk, agents, { source: 'code' })
  else await parts.registry.ensure(desk.database)
  parts.hearing.current = startHearing(parts)
  await parts.worker.open()
}

/** `over` is called when all work has come to rest, before the store is closed: from then on nothing is taken in any more. */
async function stop(parts: Parts, ready: Promise<void>, over: () => void): Promise<void> {
  const opened = await ready.then(
    () => true,
    () => false,
  )
  parts.expiry.close()
  parts.hearing.current?.close()
  if (opened) await parts.worker.close()
  over()
  const hint = 'Its result is in the store: getRun reads it.'
  parts.tracker.close(new WitanError('RUNTIME_CLOSED', 'The runtime was closed; the run goes on elsewhere.', { hint }))
  for (const source of parts.sources.values()) await source.close()
  await parts.store.close()
}

function closed(): WitanError {
  return new WitanError('RUNTIME_CLOSED', 'The runtime is closed.', {
    hint: 'Make another one with createRuntime; on the same store it goes on with what was under way.',
  })
}
