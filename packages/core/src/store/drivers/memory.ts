/** The store that keeps everything in memory: for tests, trials and work that may be lost. */
import type { Entry } from '@witan/protocol/entries'
import type { AgentChange, AgentRow } from '../../agent/records.ts'
import type {
  Append,
  AppendResult,
  ConversationRow,
  InterruptionRow,
  JobChange,
  JobRow,
  Refusal,
  ReplyRow,
  RowPage,
  Store,
} from '../store.ts'

interface Kept {
  row: ConversationRow
  readonly number: number
  readonly entries: Entry[]
  readonly jobs: string[]
  lastSeq: number
  lastMessageAt: number
}

type Writable<Row> = { -readonly [Field in keyof Row]: Row[Field] }

/** A store in memory. It keeps nothing after `close`; appends are applied at once, in order. */
export function memoryStore(options: { readonly now?: () => number } = {}): Store {
  return new MemoryStore(options.now ?? Date.now)
}

const live = (status: string): boolean => status === 'running' || status === 'waiting'

class MemoryTables {
  readonly conversations = new Map<string, Kept>()
  readonly jobs = new Map<string, Writable<JobRow>>()
  readonly interruptions = new Map<string, Writable<InterruptionRow>>()
  readonly replies = new Map<string, Writable<ReplyRow>>()
  readonly agents = new Map<string, AgentRow>()
  readonly revisions = new Map<string, AgentRow>()

  /** Why an append must be refused, before anything is changed. */
  refusal(append: Append): Refusal | null {
    const kept = this.conversations.get(key(append.database, append.conversation))
    if (append.create !== undefined) return kept === undefined ? null : 'exists'
    if (kept === undefined) return 'missing'
    if (append.fence !== undefined && this.jobs.get(append.fence.job)?.epoch !== append.fence.epoch) return 'fenced'
    if (append.ifLastSeq !== undefined && append.ifLastSeq !== kept.lastSeq) return 'moved'
    for (const { id } of append.settle ?? []) if (this.interruptions.get(id)?.view.state !== 'open') return 'settled'
    return append.job === undefined ? null : this.#jobRefusal(append.job, kept)
  }

  #jobRefusal(change: JobChange, kept: Kept): Refusal | null {
    const job = this.jobs.get(change.id)
    if (change.kind === 'create') return kept.jobs.some((id) => live(this.jobs.get(id)?.status ?? '')) ? 'active' : null
    if (job === undefined || !live(job.status)) return 'inactive'
    return change.kind === 'rest' && job.wake ? 'woken' : null
  }

  changeJob(append: Append, change: JobChange, firstSeq: number): void {
    const job = this.jobs.get(change.id)
    if (change.kind === 'create') {
      const { id, owner, leaseUntil, startedAt } = change
      const { database, conversation } = append
      const row: JobRow = {
        id,
        database,
        conversation,
        status: 'running',
        owner,
        epoch: 1,
        leaseUntil,
        wake: false,
        attempts: 1,
        startedAt,
        endedAt: null,
        firstSeq,
        result: null,
      }
      this.jobs.set(id, row)
      this.conversations.get(key(database, conversation))?.jobs.push(id)
    } else if (job !== undefined && change.kind === 'wake') {
      if (job.owner === null)
        Object.assign(job, {
          owner: change.owner,
          leaseUntil: change.leaseUntil,
          epoch: job.epoch + 1,
          status: 'running',
          attempts: 1,
        })
      else job.wake = true
    } else if (job !== undefined && change.kind === 'rest') {
      const { status, result, at } = change
      Object.assign(job, { status, result, owner: null, endedAt: status === 'waiting' ? null : at })
    }
  }
}

class MemoryStore implements Store {
  readonly now: () => number
  #tables = new MemoryTables()

  constructor(now: () => number) {
    this.now = now
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {
    this.#tables = new MemoryTables()
  }

  async append(append: Append): Promise<AppendResult> {
    const tables = this.#tables
    const reason = tables.refusal(append)
    if (reason !== null) return this.#refused(append, reason)
    const name = key(append.database, append.conversation)
    const fresh = append.create
    if (fresh !== undefined) {
      tables.conversations.set(name, {
        row: fresh,
        number: tables.conversations.size + 1,
        entries: [],
        jobs: [],
        lastSeq: 0,
        lastMessageAt: fresh.lastMessageAt,
      })
    }
    const kept = tables.conversations.get(name) as Kept
    const before = kept.lastSeq
    for (const entry of append.entries) {
      entry.seq = ++kept.lastSeq
      kept.entries.push(entry)
    }
    if (append.messageAt !== undefined) kept.lastMessageAt = append.messageAt
    for (const row of append.open ?? []) tables.interruptions.set(row.view.id, { ...row })
    for (const one of append.settle ?? []) {
      const row = tables.interruptions.get(one.id) as Writable<InterruptionRow>
      Object.assign(row, {
        view: { ...row.view, state: one.state },
        answer: one.answer,
        answeredBy: one.by,
        settledAt: one.at,
      })
    }
    if (append.job !== undefined) tables.changeJob(append, append.job, before + 1)
    return { ok: true, before, lastSeq: kept.lastSeq, job: copy(tables.jobs.get(append.job?.id ?? '')) }
  }

  #refused(append: Append, reason: Refusal): AppendResult {
    const kept = this.#tables.conversations.get(key(append.database, append.conversation))
    const busy = kept?.jobs.map((id) => this.#tables.jobs.get(id)).find((job) => live(job?.status ?? ''))
    const job = this.#tables.jobs.get(append.fence?.job ?? append.job?.id ?? '')
    if (reason === 'woken' && job !== undefined) job.wake = false
    return { ok: false, reason, job: copy(reason === 'active' ? busy : job) }
  }

  async getConversation(database: string, id: string): Promise<ConversationRow | null> {
    const kept = this.#tables.conversations.get(key(database, id))
    return kept === undefined ? null : rowOf(kept)
  }

  async listConversations(
    database: string,
    page: RowPage & { agent: string | null; createdBy: string | null },
  ): Promise<readonly ConversationRow[]> {
    const wanted = (row: ConversationRow) =>
      row.database === database &&
      (page.agent === null || row.agent === page.agent) &&
      (page.createdBy === null || row.createdBy === page.createdBy)
    const all = [...this.#tables.conversations.values()].filter((kept) => wanted(kept.row)).reverse()
    return after(all, page, (kept) => kept.row.id).map(rowOf)
  }

  async deleteConversation(database: string, id: string): Promise<boolean> {
    const kept = this.#tables.conversations.get(key(database, id))
    if (kept === undefined) return false
    this.#tables.conversations.delete(key(database, id))
    for (const job of kept.jobs) this.#tables.jobs.delete(job)
    for (const [name, row] of this.#tables.interruptions) {
      if (row.database === database && row.conversation === id) this.#tables.interruptions.delete(name)
    }
    return true
  }

  async readEntries(
    database: string,
    conversation: string,
    range: { after: number; limit: number },
  ): Promise<readonly Entry[]> {
    return (
      this.#tables.conversations
        .get(key(database, conversation))
        ?.entries.slice(range.after, range.after + range.limit) ?? []
    )
  }

  async getJob(database: string, id: string): Promise<JobRow | null> {
    const job = this.#tables.jobs.get(id)
    return job?.database === database ? copy(job) : null
  }

  async listJobs(database: string, conversation: string): Promise<readonly JobRow[]> {
    const ids = this.#tables.conversations.get(key(database, conversation))?.jobs ?? []
    return ids.map((id) => copy(this.#tables.jobs.get(id)) as JobRow)
  }

  async claimJobs(claim: { owner: string; leaseMs: number; limit: number }): Promise<readonly JobRow[]> {
    const now = this.now()
    const due = [...this.#tables.jobs.values()]
      .filter((job) => live(job.status) && claimable(job, now))
      .slice(0, claim.limit)
    for (const job of due)
      Object.assign(job, {
        owner: claim.owner,
        epoch: job.epoch + 1,
        leaseUntil: now + claim.leaseMs,
        wake: false,
        status: 'running',
        attempts: job.attempts + 1,
      })
    return due.map((job) => ({ ...job }))
  }

  async heartbeat(
    owner: string,
    jobs: readonly { id: string; epoch: number }[],
    leaseMs: number,
  ): Promise<readonly string[]> {
    const held = jobs.filter(
      ({ id, epoch }) => this.#tables.jobs.get(id)?.owner === owner && this.#tables.jobs.get(id)?.epoch === epoch,
    )
    for (const { id } of held) Object.assign(this.#tables.jobs.get(id) as object, { leaseUntil: this.now() + leaseMs })
    return held.map(({ id }) => id)
  }

  async releaseJobs(owner: string): Promise<void> {
    for (const job of this.#tables.jobs.values()) {
      if (job.owner === owner)
        Object.assign(job, { owner: null, leaseUntil: 0, wake: true, attempts: job.attempts - 1 })
    }
  }

  async getInterruption(database: string, id: string): Promise<InterruptionRow | null> {
    const row = this.#tables.interruptions.get(id)
    return row?.database === database ? { ...row } : null
  }

  async listInterruptions(
    database: string,
    page: RowPage & { state: string | null; conversation: string | null },
  ): Promise<readonly InterruptionRow[]> {
    const all = [...this.#tables.interruptions.values()].filter(
      (row) =>
        row.database === database &&
        (page.state === null || row.view.state === page.state) &&
        (page.conversation === null || row.conversation === page.conversation),
    )
    return after(all, page, (row) => row.view.id).map((row) => ({ ...row }))
  }

  async listAgents(database: string): Promise<readonly AgentRow[]> {
    return [...this.#tables.agents.values()]
      .filter((row) => row.database === database)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  async getAgentRevision(database: string, id: string, revision: number): Promise<AgentRow | null> {
    return this.#tables.revisions.get(key(database, `${id} ${revision}`)) ?? null
  }

  async lastAgentRevision(database: string, id: string): Promise<number> {
    let last = 0
    for (const row of this.#tables.revisions.values())
      if (row.database === database && row.id === id && row.revision > last) last = row.revision
    return last
  }

  async changeAgents(database: string, changes: readonly AgentChange[]): Promise<boolean> {
    const { agents, revisions } = this.#tables
    if (changes.some(({ id, ifRevision }) => (agents.get(key(database, id))?.revision ?? 0) !== ifRevision))
      return false
    for (const { id, row } of changes) {
      if (row === null) agents.delete(key(database, id))
      else {
        agents.set(key(database, id), row)
        revisions.set(key(database, `${id} ${row.revision}`), row)
      }
    }
    return true
  }

  async beginReply(
    database: string,
    row: { key: string; digest: string; at: number; expiresBefore: number },
  ): Promise<ReplyRow | null> {
    const known = this.#tables.replies.get(key(database, row.key))
    if (known !== undefined && known.at >= row.expiresBefore) return { ...known }
    this.#tables.replies.set(key(database, row.key), {
      key: row.key,
      digest: row.digest,
      at: row.at,
      status: null,
      body: null,
    })
    return null
  }

  async finishReply(database: string, name: string, reply: { status: number; body: string } | null): Promise<void> {
    const row = this.#tables.replies.get(key(database, name))
    if (reply === null) this.#tables.replies.delete(key(database, name))
    else if (row !== undefined) Object.assign(row, reply)
  }
}

function key(database: string, name: string): string {
  return `${database}\n${name}`
}

function claimable(job: JobRow, now: number): boolean {
  return job.owner === null ? job.wake : job.leaseUntil < now
}

function copy(job: JobRow | undefined): JobRow | null {
  return job === undefined ? null : { ...job }
}

function rowOf(kept: Kept): ConversationRow {
  return { ...kept.row, lastSeq: kept.lastSeq, lastMessageAt: kept.lastMessageAt }
}

function after<Row>(rows: readonly Row[], page: RowPage, id: (row: Row) => string): readonly Row[] {
  const start = page.after === null ? 0 : rows.findIndex((row) => id(row) === page.after) + 1
  return rows.slice(start, start + page.limit)
}
