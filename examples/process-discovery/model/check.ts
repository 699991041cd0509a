/** What is wrong with the form of a process model, whatever process it is of. */
import type { ProcessModel } from './process-model.ts'

/** One finding: what, where, and what to do about it. */
interface Finding {
  readonly code: string
  readonly where: string
  readonly detail: string
}

/** Every finding; an empty list for a sound model. */
export function check(model: ProcessModel): readonly Finding[] {
  const form = [...checkIds(model), ...checkFlows(model)]
  // With flows that lead nowhere, the paths say nothing.
  return form.length > 0
    ? form
    : [...checkEvents(model), ...checkActivities(model), ...checkGateways(model), ...checkPaths(model)]
}

const finding = (code: string, where: string, detail: string): Finding => ({ code, where, detail })

function nodesOf({ events, activities, gateways }: ProcessModel): readonly string[] {
  return [...events, ...activities, ...gateways].map(({ id }) => id)
}

function checkIds(model: ProcessModel): readonly Finding[] {
  const ids = nodesOf(model)
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) !== index))
  return [...twice].map((id) => finding('ID_TWICE', id, 'Two nodes have this id; each needs its own.'))
}

function checkFlows(model: ProcessModel): readonly Finding[] {
  const ids = new Set(nodesOf(model))
  return model.flows.flatMap(({ from, to }) =>
    [from, to]
      .filter((end) => !ids.has(end))
      .map((end) => finding('FLOW_DANGLING', `${from} → ${to}`, `There is no node "${end}".`)),
  )
}

const into = ({ flows }: ProcessModel, id: string) => flows.filter(({ to }) => to === id)
const outOf = ({ flows }: ProcessModel, id: string) => flows.filter(({ from }) => from === id)

function checkEvents(model: ProcessModel): readonly Finding[] {
  const starts = model.events.filter(({ kind }) => kind === 'start')
  const ends = model.events.filter(({ kind }) => kind === 'end')
  return [
    ...(starts.length === 1 ? [] : [finding('START_COUNT', 'events', `A model has one start, not ${starts.length}.`)]),
    ...(ends.length > 0 ? [] : [finding('END_MISSING', 'events', 'A model has at least one end.')]),
    ...starts
      .filter(({ id }) => into(model, id).length > 0)
      .map(({ id }) => finding('START_ENTERED', id, 'No flow leads into the start.')),
    ...ends
      .filter(({ id }) => outOf(model, id).length > 0)
      .map(({ id }) => finding('END_LEFT', id, 'No flow leads out of an end.')),
  ]
}

function checkActivities(model: ProcessModel): readonly Finding[] {
  return model.activities.flatMap(({ id, name, lane }) => [
    ...(lane !== null && model.lanes.includes(lane)
      ? []
      : [finding('LANE_MISSING', name, 'Nobody is said to do it; name a lane of the model.')]),
    ...(into(model, id).length > 1 || outOf(model, id).length > 1
      ? [finding('GATEWAY_MISSING', name, 'Flows split and join at gateways, not at activities.')]
      : []),
  ])
}

function checkGateways(model: ProcessModel): readonly Finding[] {
  const called = new Map([...model.activities, ...model.events].map(({ id, name }) => [id, name]))
  return model.gateways.flatMap(({ id, kind }) => {
    const before = into(model, id)
    const after = outOf(model, id)
    const where = `${id}, after ${before.map(({ from }) => `"${called.get(from) ?? from}"`).join(', ')}`
    const open = after.filter(({ condition }) => condition === null).map(({ to }) => `"${called.get(to) ?? to}"`)
    if (before.length < 2 && after.length < 2) return [finding('GATEWAY_IDLE', where, 'It neither splits nor joins.')]
    if (after.length < 2) return []
    if (kind === 'exclusive' && open.length > 1)
      return [finding('CONDITION_MISSING', where, `Nothing says when it goes to ${open.join(' and when to ')}.`)]
    if (kind === 'parallel' && open.length < after.length)
      return [
        finding('CONDITION_IDLE', where, 'All branches of a parallel gateway are taken; conditions belong before it.'),
      ]
    return kind === 'parallel' && !isJoined(model, id)
      ? [finding('PARALLEL_UNBALANCED', where, 'Its branches do not meet in a parallel gateway.')]
      : []
  })
}

/** Whether all branches of a split can come to one parallel gateway. */
function isJoined(model: ProcessModel, split: string): boolean {
  const branches = outOf(model, split).map(({ to }) => reach(model, to, 'to'))
  return model.gateways.some(
    ({ id, kind }) =>
      kind === 'parallel' && id !== split && into(model, id).length > 1 && branches.every((branch) => branch.has(id)),
  )
}

function checkPaths(model: ProcessModel): readonly Finding[] {
  const start = model.events.find(({ kind }) => kind === 'start')
  const forward = start === undefined ? new Set<string>() : reach(model, start.id, 'to')
  const ends = model.events.filter(({ kind }) => kind === 'end').map(({ id }) => reach(model, id, 'from'))
  return [...model.activities, ...model.events].flatMap(({ id, name }) => [
    ...(start === undefined || forward.has(id)
      ? []
      : [finding('UNREACHABLE', name, 'No way leads to it from the start.')]),
    ...(ends.length === 0 || ends.some((way) => way.has(id))
      ? []
      : [finding('NO_WAY_ON', name, 'No way leads from it to an end.')]),
  ])
}

/** Every node on a way from this one, or to it. */
function reach({ flows }: ProcessModel, from: string, towards: 'from' | 'to'): ReadonlySet<string> {
  const seen = new Set([from])
  for (const node of seen)
    for (const flow of flows) if ((towards === 'to' ? flow.from : flow.to) === node) seen.add(flow[towards])
  return seen
}
