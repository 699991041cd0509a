/** `witan work`: a worker without HTTP beside the servers of a PostgreSQL store, until a signal stops it. */
import { readServerAddress } from '@witan/core/tooling'
import { type Config, startWorker, type WorkNote } from '@witan/server'
import type { Command } from '../command.ts'
import { configOption } from '../command.ts'
import { StartError, UsageError } from '../exit.ts'
import { readConfig } from '../loading.ts'
import { endOf, surviveStrayRejections, untilStopped } from '../stopping.ts'
import type { Terminal } from '../terminal.ts'
import { print, printJsonLine } from '../terminal.ts'
import type { Line, Span } from '../tree/lines.ts'
import { duration } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'

export const workCommand: Command = {
  name: 'work',
  summary: 'Work on runs and tasks of a PostgreSQL store, without HTTP; any number of them.',
  options: { json: { help: 'Print JSON, one line for each job that it begins with or leaves.' }, ...configOption },
  run: async (given, terminal) => {
    const config = await readConfig(given, terminal)
    refuseOwnStore(config)
    surviveStrayRejections()
    const show = given.has('json') ? jsonNotes(terminal) : shownNotes(terminal)
    const worker = await startWorker(config, show.note).catch((error: unknown) => {
      throw new StartError(error)
    })
    // Who reads the lines below may stop the worker at once.
    const stopped = untilStopped()
    show.ready(placeOf(config))
    for (const { agent, detail, hint } of worker.lacks) show.lacks(`${agent}: ${detail} ${hint}`)
    await stopped
    const isDone = await worker.close()
    show.end(isDone)
    return endOf(isDone)
  },
}

/** A file or memory store has one process: this is the wrong command for it, not a wrong store. */
function refuseOwnStore({ store }: Config): void {
  if (/^postgres(ql)?:/.test(store.url)) return
  const where = store.url === 'memory:' ? 'in the memory of one process' : 'in a file, which one process holds'
  throw new UsageError(
    `The store is ${where}: there is nothing that a second process could work on.`,
    'witan serve works on its jobs itself. For more processes set store.url or WITAN_STORE_URL to postgres://…',
  )
}

/** Where it works, without user and password. */
function placeOf({ store }: Config): string {
  const { shown } = readServerAddress(store.url)
  return `${shown.replace(/\/\/.*@/, '//')}, schema ${store.schema ?? 'witan'}`
}

interface Shown {
  ready(place: string): void
  note(note: WorkNote): void
  lacks(text: string): void
  end(isDone: boolean): void
}

function jsonNotes(terminal: Terminal): Shown {
  const say = (type: string, fields: object) => printJsonLine(terminal, { type, ...fields })
  return {
    ready: (store) => say('ready', { store, pid: process.pid }),
    note: ({ state, ...about }) => say('job', { state, ...about, at: new Date().toISOString() }),
    lacks: (detail) => say('warning', { detail }),
    end: (isDone) => say('stopped', { handedOn: isDone }),
  }
}

const marks: Readonly<Record<Exclude<WorkNote['state'], 'taken'>, Span>> = {
  completed: { text: '✓', tone: 'good' },
  failed: { text: '✗', tone: 'bad' },
  cancelled: { text: '■', tone: 'faint' },
  waiting: { text: '?', tone: 'wait' },
  left: { text: '→', tone: 'faint' },
}

const words: Readonly<Record<Exclude<WorkNote['state'], 'taken'>, string>> = {
  completed: '',
  failed: 'failed',
  cancelled: 'cancelled',
  waiting: 'waits for somebody',
  left: 'goes on elsewhere',
}

/** One line when a job waits or has ended; a start is printed only if the job's last worker crashed. */
function shownNotes(terminal: Terminal): Shown {
  const show = (line: Line) => print(terminal, line)
  const since = new Map<string, number>()
  return {
    ready: (place) => show([{ text: `witan works on ${place}`, tone: 'plain' }]),
    note({ state, id, kind, conversation, agent, attempt }) {
      const about: Line = [
        { text: ` ${oneLine(conversation)}`, tone: 'plain' },
        { text: `  ${oneLine(agent)}${kind === 'task' ? ', in the background' : ''}`, tone: 'faint' },
      ]
      if (state === 'taken') {
        since.set(id, performance.now())
        if (attempt > 1)
          show([
            { text: '↻', tone: 'busy' },
            ...about,
            { text: `  attempt ${attempt}: its worker was lost`, tone: 'wait' },
          ])
        return
      }
      const took = duration(performance.now() - (since.get(id) ?? performance.now()))
      since.delete(id)
      const word = words[state] === '' ? '' : `  ${words[state]}`
      show([marks[state], ...about, { text: `${word}  ${took}`, tone: 'faint' }])
    },
    lacks: (text) => print(terminal, [{ text: `! ${text}`, tone: 'wait' }], terminal.errors),
    end: (isDone) =>
      show([{ text: isDone ? 'Its jobs are handed on.' : 'Not all was handed on: leases will lapse.', tone: 'faint' }]),
  }
}
