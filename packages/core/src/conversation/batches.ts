/** What the writers of a conversation have recorded and not yet stored, in the order in which they recorded it [O1]. */
import type { Entry } from '@witan/protocol/entries'
import type { InterruptionRow, JobChange, Settlement } from '../store/store.ts'
import type { ContentUse } from '../store/stored-content.ts'
import { OwnView } from './own-view.ts'

/** Entries and the rows that are stored with them, in one append. `contents` is null without any. */
export interface Recorded {
  readonly entries: Entry[]
  readonly open: InterruptionRow[]
  readonly settle: Settlement[]
  readonly jobs: JobChange[]
  contents: readonly ContentUse[] | null
}

/** What is stored beside an entry. */
export interface OwnRows {
  readonly open?: InterruptionRow
  readonly settle?: Settlement
  readonly job?: JobChange
  readonly contents?: readonly ContentUse[]
}

/** Something that records and has its batches stored, under its own fence. */
export interface BatchWriter {
  store(recorded: Recorded): void
}

interface Batch {
  readonly writer: BatchWriter
  readonly recorded: Recorded
}

/** The batches of a conversation. A batch is what one writer recorded in a row, before another one did. */
export class Batches {
  /** What the entries say of the fold that they come from. */
  readonly view: OwnView
  readonly #list: Batch[] = []

  /** `isLoaded`: others wrote to the conversation before. */
  constructor(isLoaded: boolean) {
    this.view = new OwnView(isLoaded)
  }

  /** The open batch of a writer: the last one if it is this writer's, else a new one. */
  of(writer: BatchWriter): Recorded {
    const last = this.#list.at(-1)
    if (last?.writer === writer) return last.recorded
    const recorded: Recorded = { entries: [], open: [], settle: [], jobs: [], contents: null }
    this.#list.push({ writer, recorded })
    return recorded
  }

  /** Takes out the last batch if it is this writer's; else null. */
  takeTail(writer: BatchWriter): Recorded | null {
    if (this.#list.at(-1)?.writer !== writer) return null
    return this.#list.pop()?.recorded ?? null
  }

  /** Puts back what `takeTail` gave. */
  putBack(writer: BatchWriter, recorded: Recorded): void {
    this.#list.push({ writer, recorded })
  }

  /**
   * Gives all batches to their writers, in order. The list stays the same: V8 would make each new one among the objects that last, and
   * all that it had held, whole jobs, would stay until these are collected.
   */
  store(): void {
    for (const { writer, recorded } of this.#list.splice(0)) writer.store(recorded)
  }
}

/** Adds rows to a batch. */
export function addRows(to: Recorded, { open, settle, job, contents }: OwnRows): void {
  if (open !== undefined) to.open.push(open)
  if (settle !== undefined) to.settle.push(settle)
  if (job !== undefined) to.jobs.push(job)
  if (contents !== undefined) to.contents = [...(to.contents ?? []), ...contents]
}
