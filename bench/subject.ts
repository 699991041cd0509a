/** What is measured: something that was built once from a scenario and runs it again and again. */

/** A reader of deltas. */
export type OnDelta = (text: string) => void

/** One conversation that goes on turn by turn. */
export interface Growing {
  turn(prompt: string): Promise<string>
}

/** A built scenario. */
export interface Subject {
  /** One complete run in a conversation of its own; resolves with its final text. */
  run(prompt: string): Promise<string>
  /** The same with somebody who reads every delta of the tree. */
  stream(prompt: string, onDelta: OnDelta): Promise<string>
  /** A conversation that is kept. */
  grow(): Growing
  /** Drops what earlier runs left in memory, where they leave anything. Only between runs. */
  refresh(): Promise<void>
  close(): Promise<void>
}
