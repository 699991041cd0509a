/** Adds code agents to the rosters of the parents that they name, when a runtime starts [F09, F10]. */

/** An agent as written, parsed or not. */
type Written = { readonly id?: unknown; readonly parents?: unknown; readonly subAgents?: unknown }

/**
 * The same agents, each with an edge to every agent of `children` that names it in `parents` and that it does not list yet.
 * The edge has all defaults, and its description is the child's own. Malformed parts are left unchanged: the check reports
 * them.
 */
export function listedByParents(agents: readonly object[], children: readonly object[]): readonly object[] {
  const wanted = new Map<unknown, string[]>()
  for (const { id, parents } of children as readonly Written[]) {
    if (typeof id !== 'string' || !Array.isArray(parents)) continue
    for (const parent of new Set(parents)) if (parent !== id) wanted.set(parent, [...(wanted.get(parent) ?? []), id])
  }
  return agents.map((agent) => withEdges(agent, wanted.get((agent as Written).id) ?? []))
}

function withEdges(agent: object, children: readonly string[]): object {
  const { subAgents = [] } = agent as Written
  if (!Array.isArray(subAgents)) return agent
  const listed = new Set(subAgents.map((edge) => (edge as { readonly agent?: unknown } | null)?.agent))
  const missing = children.filter((id) => !listed.has(id))
  return missing.length === 0 ? agent : { ...agent, subAgents: [...subAgents, ...missing.map((id) => ({ agent: id }))] }
}
