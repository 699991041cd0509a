/** Which agents answer from a script instead of a model: every screen says so. */

const prefix = 'scripted/'

/** Whether a model id names the scripted model. */
export function isScripted(model: string): boolean {
  return model === 'scripted' || model.startsWith(prefix)
}

/** The sentence of the banner, or null where every agent has a real model. */
export function scriptedNotice(agents: readonly { readonly id: string; readonly model: string }[]): string | null {
  const scripted = agents.filter((agent) => isScripted(agent.model))
  if (scripted.length === 0) return null
  if (scripted.length === agents.length) {
    return 'All agents here answer from a script. No language model is called.'
  }
  const names = scripted.slice(0, 3).map((agent) => agent.id)
  const more = scripted.length - names.length
  const list = more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
  return `These agents answer from a script, no language model is called: ${list}.`
}
