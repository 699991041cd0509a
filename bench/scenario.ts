/** The scenarios: who the agents are, and what their instant model answers. Both the floor and Witan are built from these. */

/** What a model answers: a text, calls of tools or sub-agents, or a text in so many pieces. */
export type Reply =
  | { readonly text: string }
  | { readonly calls: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[] }
  | { readonly deltas: number }

/** One agent. `reply` gets how often its model has answered since the last user message. */
export interface Role {
  readonly tool: boolean
  readonly subAgents: readonly string[]
  /** The agent that it hands over to. */
  readonly target?: string
  /** Set for a parallel: the agents that it runs; it has no model. */
  readonly parallel?: readonly string[]
  readonly reply: (step: number) => Reply
}

/** A tree of agents whose entry is `root`, and what a run of it must come to. */
export interface Scenario {
  readonly id: string
  readonly title: string
  readonly roles: Readonly<Record<string, Role>>
  readonly text: string
  /** Deltas that must reach the reader; 0 where nothing is streamed. */
  readonly deltas: number
}

/** What every run asks for. */
export const prompt =
  'Please find out what the weather is like in Paris right now, in celsius, and tell me in one line.'

/** The instructions of an agent. */
export function instructionsOf(name: string): string {
  return `You are ${name}, a careful assistant. Use the tools you are given whenever they help, answer briefly and in plain words, and never make up facts that a tool did not return.`
}

/** The one tool of the benchmark: a plain function that returns at once. */
export function lookUp(city: string, unit: string): string {
  return `${city}: 21 degrees ${unit}, clear sky, wind 3 m/s from the west`
}

/** One piece of a streamed text: eight characters. */
export function deltaText(index: number): string {
  return `word${String(index).padStart(3, '0')} `
}

const streamed = new Map<number, string>()

/** The text that so many deltas make. */
export function streamedText(deltas: number): string {
  const known = streamed.get(deltas)
  if (known !== undefined) return known
  const text = Array.from({ length: deltas }, (_, index) => deltaText(index)).join('')
  streamed.set(deltas, text)
  return text
}

const task = 'Find the current weather in Paris in celsius and report it in one short sentence.'
const workers = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8']

function says(text: string): Role {
  return { tool: false, subAgents: [], reply: () => ({ text }) }
}

/** Uses the tool so many times, one after the other, and then answers. */
function uses(times: number, text: string): Role {
  const reply = (step: number): Reply =>
    step < times ? { calls: [{ name: 'lookup', arguments: { city: `City${step}`, unit: 'celsius' } }] } : { text }
  return { tool: true, subAgents: [], reply }
}

/** Asks all of `subAgents` at once and then answers. */
function asks(subAgents: readonly string[], text: string): Role {
  const calls = subAgents.map((name) => ({ name, arguments: { message: task } }))
  return { tool: false, subAgents, reply: (step) => (step === 0 ? { calls } : { text }) }
}

/** Hands over at once. */
function handsTo(target: string): Role {
  const calls = [{ name: 'transfer_to_agent', arguments: { agent_name: target } }]
  return { tool: false, subAgents: [], target, reply: () => ({ calls }) }
}

const delegation = {
  root: asks(['a'], 'root: 21 degrees.'),
  a: asks(['b'], 'a: 21 degrees.'),
  b: asks(['c'], 'b: 21 degrees.'),
  c: uses(1, 'c: 21 degrees.'),
}
const fan = { root: asks(workers, 'All are done.'), ...Object.fromEntries(workers.map((name) => [name, says('done')])) }
const streamer: Role = { tool: false, subAgents: [], reply: () => ({ deltas: 500 }) }
const oneTool = { root: uses(1, 'It is 21 degrees.') }

/** A conversation that grows: one tool call in each turn. */
export const growing: Scenario = {
  id: 'S9',
  title: 'one conversation that grows',
  roles: oneTool,
  text: 'It is 21 degrees.',
  deltas: 0,
}

/** Three levels of delegation and a tool: eight model calls. */
export const threeLevels: Scenario = {
  id: 'S4',
  title: 'three levels, 8 model calls',
  roles: delegation,
  text: 'root: 21 degrees.',
  deltas: 0,
}

/** The scenarios that are run one after the other. */
export const scenarios: readonly Scenario[] = [
  { id: 'S1', title: 'one turn', roles: { root: says('It is 21 degrees.') }, text: 'It is 21 degrees.', deltas: 0 },
  { id: 'S2', title: 'one tool call', roles: oneTool, text: 'It is 21 degrees.', deltas: 0 },
  { id: 'S3', title: 'ten tool calls', roles: { root: uses(10, 'All ten.') }, text: 'All ten.', deltas: 0 },
  threeLevels,
  {
    id: 'S5',
    title: 'one hand-over',
    roles: { root: handsTo('specialist'), specialist: says('It is 21 degrees.') },
    text: 'It is 21 degrees.',
    deltas: 0,
  },
  { id: 'S6', title: 'fan-out to eight', roles: fan, text: 'All are done.', deltas: 0 },
  {
    id: 'S6p',
    title: 'parallel of eight',
    roles: {
      root: { ...says(''), parallel: workers },
      ...Object.fromEntries(workers.map((name) => [name, says('done')])),
    },
    text: workers.map((name) => `[from @${name}] done`).join('\n\n'),
    deltas: 0,
  },
  { id: 'S7a', title: '500 deltas from the root', roles: { root: streamer }, text: streamedText(500), deltas: 500 },
  {
    id: 'S7',
    title: '500 deltas through two levels',
    roles: { root: asks(['a'], 'root: done.'), a: asks(['b'], 'a: done.'), b: streamer },
    text: 'root: done.',
    deltas: 500,
  },
]
