/** Builds a process model from facts: the craft of the scripted modeler. */
import type { Fact } from '../world/facts.ts'
import type { ProcessModel } from '../model/process-model.ts'

type Follows = Extract<Fact, { readonly kind: 'follows' }>

interface Draft {
  readonly gateways: ProcessModel['gateways']
  readonly flows: ProcessModel['flows']
  readonly ids: ReadonlyMap<string, string>
}

/** The model of what stands. What nobody said is missing in it. */
export function modelOf(process: string, facts: readonly Fact[]): ProcessModel {
  const lanes = new Map(
    facts.flatMap((fact) => (fact.kind === 'does' ? fact.activities.map((name) => [name, fact.lane] as const) : [])),
  )
  const named = facts.flatMap((fact) =>
    fact.kind === 'follows' ? [fact.from, ...fact.to] : fact.kind === 'begins' ? [fact.activity] : [],
  )
  const names = [...new Set([...lanes.keys(), ...named])]
  const draft: Draft = { gateways: [], flows: [], ids: new Map(names.map((name, index) => [name, `a${index + 1}`])) }
  const idOf = (name: string) => draft.ids.get(name) ?? name
  const begins = facts.filter((fact) => fact.kind === 'begins')
  const ends = facts.filter((fact) => fact.kind === 'ends')
  for (const { activity } of begins) flow(draft, ['start', idOf(activity)])
  for (const [index, { from }] of ends.entries()) flow(draft, [idOf(from), `end${index + 1}`])
  for (const name of names)
    split(draft, idOf(name), facts.filter((fact) => fact.kind === 'follows' && fact.from === name) as Follows[])
  for (const name of names) join(draft, idOf(name))
  return {
    process,
    lanes: [...new Set(lanes.values())],
    events: [
      ...(begins.length > 0 ? [{ id: 'start', kind: 'start' as const, name: 'Start' }] : []),
      ...ends.map(({ from }, index) => ({
        id: `end${index + 1}`,
        kind: 'end' as const,
        name: `After ${from}`.slice(0, 200),
      })),
    ],
    activities: names.map((name) => ({ id: idOf(name), name, lane: lanes.get(name) ?? null })),
    gateways: draft.gateways,
    flows: draft.flows,
  }
}

function flow({ flows }: Draft, [from, to]: readonly [string, string], condition: string | null = null): void {
  flows.push({ from, to, condition })
}

function gateway({ gateways }: Draft, kind: 'exclusive' | 'parallel'): string {
  const id = `g${gateways.length + 1}`
  gateways.push({ id, kind })
  return id
}

/** Several ways on start at an exclusive gateway; what is done at the same time starts at a parallel one. */
function split(draft: Draft, from: string, next: readonly Follows[]): void {
  const before = next.length > 1 ? gateway(draft, 'exclusive') : from
  if (before !== from) flow(draft, [from, before])
  for (const { to, condition } of next) {
    const ids = to.map((name) => draft.ids.get(name) ?? name)
    const target = ids.length > 1 ? gateway(draft, 'parallel') : (ids[0] ?? '')
    flow(draft, [before, target], before === from && ids.length === 1 ? null : condition)
    if (ids.length > 1) for (const id of ids) flow(draft, [target, id])
  }
}

/** Several ways into an activity meet at a gateway: a parallel one, if a parallel split began them. */
function join(draft: Draft, to: string): void {
  const ways = draft.flows.filter((one) => one.to === to)
  if (ways.length < 2) return
  const parallel = draft.gateways.filter(({ kind }) => kind === 'parallel').map(({ id }) => id)
  const begun = parallel.some((id) =>
    ways.every(({ from }) => draft.flows.some((one) => one.from === id && one.to === from)),
  )
  const before = gateway(draft, begun ? 'parallel' : 'exclusive')
  for (const way of ways) draft.flows.splice(draft.flows.indexOf(way), 1, { ...way, to: before })
  flow(draft, [before, to])
}
