/** Who may see a parameter's value, written from the who-sees-what matrix and never from the code [R23–R25, R35–R39, C17, Rb09]. */

/** What is true of one agent and one parameter in one case. */
export interface Facts {
  /** It declares the parameter and is given a value for it. */
  readonly bound: boolean
  /** It declares it, its own declaration allows it, and the conversation allows it: all three gates. */
  readonly shown: boolean
  readonly isRoot: boolean
  /** An action of it waits for an answer. */
  readonly asks: boolean
}

/** `must` is a positive control: a case in which an allowed place is empty proves nothing. */
type Verdict = 'must' | 'never'

const when = (holds: boolean): Verdict => (holds ? 'must' : 'never')

/** One row for each sink: agent × parameter → verdict. */
export const visibilityTable = {
  /** Everything that goes to the agent's model: system text, messages with tool results and delegated text, tools with schemas. */
  model: ({ shown }: Facts) => when(shown),
  /** What is computed of that. */
  'model call': ({ shown }: Facts) => when(shown),
  /** Stored bodies hold what the model may see; the rest stands there by name only. */
  log: ({ shown }: Facts) => when(shown),
  'verbose events': ({ shown }: Facts) => when(shown),
  /** A terse reader gets the root's own events, and of others only that they ask. */
  'terse events': ({ shown, isRoot }: Facts) => when(shown && isRoot),
  document: ({ shown }: Facts) => when(shown),
  /** The models recite what they read when they reason, and show it. */
  'full document': ({ shown }: Facts) => when(shown),
  'reasoning deltas': ({ shown }: Facts) => when(shown),
  /** Whoever may answer an action needs the bound values of the agent that asks. */
  interruption: ({ bound, asks }: Facts) => when(bound && asks),
  'conversation read': ({ bound, asks }: Facts) => when(bound && asks),
  'waiting result': ({ bound, asks }: Facts) => when(bound && asks),
  /** Executors work with every bound value, hidden or not. */
  executor: ({ bound }: Facts) => when(bound),
  /** Whatever else a tool is handed. */
  'tool context': () => 'never',
  deltas: () => 'never',
  'run tree': () => 'never',
  'final result': () => 'never',
  check: () => 'never',
  report: () => 'never',
} as const satisfies Record<string, (facts: Facts) => Verdict>

export type Sink = keyof typeof visibilityTable
