/** Which agents answer from a script instead of a model: every screen says so. */
import type { StoredAgent } from '@witan/protocol'

/** Whether a model is a script. The server says so; the model's name does not. */
type ScriptedAgent = Pick<StoredAgent, 'id' | 'name' | 'modelKind'> & Partial<Pick<StoredAgent, 'workflow'>>

/** The sentence of the banner, or null where every agent has a real model. A workflow has none, and does not count. */
export function scriptedNotice(agents: readonly ScriptedAgent[]): string | null {
  const scripted = agents.filter(({ modelKind }) => modelKind === 'script')
  if (scripted.length === 0) return null
  if (scripted.length === agents.filter(({ workflow }) => workflow == null).length) {
    return 'All agents here answer from a script. No language model is called.'
  }
  const names = scripted.slice(0, 3).map(({ id, name }) => name ?? id)
  const more = scripted.length - names.length
  const list = more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
  return `These agents answer from a script, no language model is called: ${list}.`
}
