/** The agents: as the running server sees them, or checked here without the store being opened. */
import { type Client, createClient } from '@witan/client'
import { type CheckReport, isWitanError } from '@witan/protocol'
import { type Config, createLog, openRuntime, type RunningServer } from '@witan/server'
import { plural } from '../tree/phrase.ts'
import { bad, type DoctorFinding, good, refused, warning } from './finding.ts'

/** Asks the server: its agents, and what waits there. */
export async function lookAtServed({ url, token }: RunningServer): Promise<DoctorFinding[]> {
  const client = createClient({ url, ...(token === null ? {} : { token }) })
  try {
    const { items } = await client.agents.list({ limit: 200 })
    return [...judge(items.length, await client.agents.check()), await lookAtWaiting(client)]
  } catch (error) {
    if (isWitanError(error) && error.code === 'UNAUTHENTICATED')
      return [
        warning(
          'agents',
          'Not looked at: the server wants to know who asks.',
          "Give an admin's key or token as WITAN_TOKEN.",
        ),
      ]
    return [refused('agents', error, 'Look at what the server writes.')]
  } finally {
    client.close()
  }
}

async function lookAtWaiting(client: Client): Promise<DoctorFinding> {
  const { items, nextCursor } = await client.interruptions.list({ limit: 200 })
  return good('work', `${nextCursor === null ? '' : 'more than '}${plural(items.length, 'interruption')} open`)
}

/** Checks the configured agents and the stored ones beside each other, in memory: nothing is run, nothing is stored. */
export async function lookAtAgents(config: Config, stored: readonly object[]): Promise<DoctorFinding[]> {
  const log = createLog('silent', () => undefined)
  try {
    const runtime = await openRuntime({ ...config, store: { ...config.store, url: 'memory:' } }, log)
    try {
      const own = new Set((await runtime.agents.list({ limit: 200 })).items.map(({ id }) => id))
      const others = stored.filter((agent) => !own.has(String(Reflect.get(agent, 'id'))))
      return judge(own.size + others.length, await runtime.agents.check(others.length === 0 ? undefined : others))
    } finally {
      await runtime.close()
    }
  } catch (error) {
    const isOfSource = isWitanError(error) && error.path?.startsWith('sources.') === true
    if (isOfSource)
      return [warning('agents', 'Not checked: they cannot be without their sources.', 'Mend the source first.')]
    return [refused('agents', error, 'Run witan check for details.')]
  }
}

function judge(count: number, { errors, warnings }: CheckReport): DoctorFinding[] {
  const sum = `${plural(count, 'agent')}, ${plural(errors.length, 'error')}, ${plural(warnings.length, 'warning')}`
  const [first] = [...errors, ...warnings]
  if (first === undefined) return [good('agents', sum)]
  const text = `${sum}; the first: ${first.agent} ${first.path}: ${first.code} ${first.detail}`
  const fix = `witan check lists ${errors.length + warnings.length === 1 ? 'it' : 'them all'}. ${first.hint}`
  return [errors.length > 0 ? bad('agents', text, fix) : warning('agents', text, fix)]
}
