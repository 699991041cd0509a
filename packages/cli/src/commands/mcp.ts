/** `witan mcp pin` and `witan mcp diff`: the tools of MCP servers as somebody looked at them, and as they are now. */
import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  differences,
  lockOf,
  lockText,
  type McpLock,
  mcpLockFile,
  nearest,
  noPins,
  type PinDifferences,
} from '@witan/core/tooling'
import type { Config } from '@witan/server'
import { type Command, configOption, type Given, jsonOption } from '../command.ts'
import { type ExitCode, exitCodes, StartError, UsageError } from '../exit.ts'
import { nearPath, readConfig } from '../loading.ts'
import { differenceLines, differencePhrase, isSame } from '../mcp/difference-lines.ts'
import { type Looked, lookAt, type OpenServers, openServers } from '../mcp/looking.ts'
import { print, printJson, printProse, type Terminal } from '../terminal.ts'
import { plural } from '../tree/phrase.ts'
import { oneLine } from '../tree/width.ts'

const options = { ...jsonOption, ...configOption }
const operands = [{ name: 'SERVER', optional: true, many: true }]

/** The commands about pins, over these connections. */
export function mcpCommandsOver(open: OpenServers): readonly Command[] {
  return [
    {
      name: 'mcp pin',
      summary: 'Connect to MCP servers and pin their tools as they are now: a tool that changes later is not offered.',
      operands,
      options,
      examples: ['witan mcp pin', 'witan mcp diff files && witan mcp pin files'],
      run: (given, terminal) => pin(given, terminal, open),
    },
    {
      name: 'mcp diff',
      summary: 'Connect to the pinned MCP servers and show what differs from their pins; ends with 1 if anything does.',
      operands,
      options,
      run: (given, terminal) => diff(given, terminal, open),
    },
  ]
}

/** The commands about pins. */
export const mcpCommands: readonly Command[] = mcpCommandsOver(openServers)

/** One server with what it offers now, compared with its pins. */
type Compared = Looked & { readonly isPinned: boolean; readonly found: PinDifferences | null }

async function pin(given: Given, terminal: Terminal, open: OpenServers): Promise<ExitCode> {
  const config = await readConfig(given, terminal)
  const names = namesOf(given, config)
  const before = config.mcp.lock ?? noPins
  const looked = await look(names, { config, terminal, open })
  const lists = new Map(looked.flatMap(({ server, list }) => (list === null ? [] : [[server, list] as const])))
  const file = join(config.folder, mcpLockFile)
  const lock = lockOf(lists, given.operands.length > 0 ? before : onlyConfigured(before, config))
  const isChanged = lists.size > 0 && (config.mcp.lock === null || lockText(lock) !== lockText(before))
  if (isChanged) await write(file, lockText(lock))
  const compared = looked.map((one) => comparedWith(before, one))
  const shownFile = nearPath(file, terminal.folder)
  if (given.has('json')) printJson(terminal, { file, written: isChanged, servers: compared.map(jsonOf) })
  else {
    for (const one of compared) printPinned(terminal, one)
    if (isChanged) print(terminal, `${shownFile} is written. Keep it with the configuration.`)
    else if (lists.size > 0) print(terminal, `${shownFile} stays as it is.`)
    if (names.length === 0) print(terminal, noServers, terminal.errors)
  }
  return looked.some(({ error }) => error !== null) ? exitCodes.failed : exitCodes.done
}

const noServers = 'The configuration has no MCP servers: name them in `mcpServers`.'

/** The pins of servers that are still in the configuration. */
function onlyConfigured({ version, servers }: McpLock, { mcp }: Config): McpLock {
  return { version, servers: Object.fromEntries(Object.entries(servers).filter(([name]) => mcp.settings.has(name))) }
}

/** Written whole or not at all. */
async function write(file: string, text: string): Promise<void> {
  const made = `${file}.${randomUUID()}.tmp`
  try {
    await writeFile(made, text, { flag: 'wx' })
    await rename(made, file)
  } catch (error) {
    await rm(made, { force: true }).catch(() => undefined)
    throw new StartError(error)
  }
}

async function diff(given: Given, terminal: Terminal, open: OpenServers): Promise<ExitCode> {
  const config = await readConfig(given, terminal)
  const names = namesOf(given, config)
  const lock = config.mcp.lock ?? noPins
  const isPinned = (name: string) => Object.hasOwn(lock.servers, name)
  const looked = await look(names.filter(isPinned), { config, terminal, open })
  const compared = looked.map((one) => comparedWith(lock, one))
  const unpinned = names.filter((name) => !isPinned(name))
  const isFine = compared.every(({ found }) => found !== null && isSame(found))
  if (given.has('json')) printJson(terminal, { same: isFine, servers: compared.map(jsonOf), unpinned })
  else {
    for (const one of compared) printCompared(terminal, one)
    for (const name of unpinned) printUnpinned(terminal, name)
    if (names.length === 0) print(terminal, noServers, terminal.errors)
  }
  return isFine ? exitCodes.done : exitCodes.failed
}

interface Looking {
  readonly config: Config
  readonly terminal: Terminal
  readonly open: OpenServers
}

async function look(names: readonly string[], { config, terminal, open }: Looking): Promise<readonly Looked[]> {
  if (names.length === 0) return []
  const report = (error: unknown) =>
    print(terminal, oneLine(error instanceof Error ? error.message : String(error)), terminal.errors)
  return lookAt(open(config.mcp.settings, report), names)
}

/** The servers that the words name, each once; all if they name none. */
function namesOf({ operands: words }: Given, { mcp }: Config): readonly string[] {
  const known = [...mcp.settings.keys()]
  const unknown = words.find((word) => !mcp.settings.has(word))
  if (unknown === undefined) return words.length === 0 ? known : [...new Set(words)]
  const near = nearest(unknown.slice(0, 100), known)
  const others = known.length === 0 ? noServers : `It has ${known.join(', ')}.`
  throw new UsageError(
    `The configuration has no MCP server "${oneLine(unknown.slice(0, 100))}".`,
    near === null ? others : `Did you mean "${near}"? ${others}`,
  )
}

function comparedWith(lock: McpLock, one: Looked): Compared {
  const found = one.list === null ? null : differences(lock, one.server, one.list)
  return { ...one, isPinned: Object.hasOwn(lock.servers, one.server), found }
}

/** For a program: whole definitions, so that it can decide itself. */
function jsonOf({ server, list, error, isPinned, found }: Compared) {
  return {
    server,
    wasPinned: isPinned,
    tools: list === null ? null : new Set(list.tools.map(({ name }) => name)).size,
    error,
    added: found?.added ?? [],
    removed: found?.removed ?? [],
    changed: found?.changed ?? [],
  }
}

function printPinned(terminal: Terminal, { server, list, error, isPinned, found }: Compared): void {
  if (list === null || found === null) return printFailed(terminal, server, `not pinned: ${error ?? ''}`)
  const count = plural(new Set(list.tools.map(({ name }) => name)).size, 'tool')
  const phrase = differencePhrase(found)
  const what = !isPinned
    ? `${count} pinned`
    : phrase === ''
      ? `${count}, as pinned before`
      : `${count} pinned: ${phrase}`
  printMarked(terminal, { mark: '✓', tone: 'good', server, text: what })
  if (isPinned) for (const line of differenceLines(found)) printProse(terminal, line, { indent: 8 })
}

function printCompared(terminal: Terminal, { server, list, error, found }: Compared): void {
  if (list === null || found === null) return printFailed(terminal, server, error ?? '')
  if (isSame(found)) return printMarked(terminal, { mark: '✓', tone: 'good', server, text: 'as pinned' })
  printMarked(terminal, { mark: '✗', tone: 'bad', server, text: differencePhrase(found) })
  for (const line of differenceLines(found)) printProse(terminal, line, { indent: 8 })
}

function printUnpinned(terminal: Terminal, server: string): void {
  const text = `not pinned: \`witan mcp pin ${server}\` pins its tools as they are then`
  printMarked(terminal, { mark: '!', tone: 'wait', server, text })
}

function printFailed(terminal: Terminal, server: string, text: string): void {
  printMarked(terminal, { mark: '✗', tone: 'bad', server, text })
}

interface Marked {
  readonly mark: string
  readonly tone: 'good' | 'bad' | 'wait'
  readonly server: string
  readonly text: string
}

function printMarked(terminal: Terminal, { mark, tone, server, text }: Marked): void {
  printProse(terminal, [
    { text: `${mark} `, tone },
    { text: server, tone: 'strong' },
    { text: `  ${oneLine(text)}`, tone: 'plain' },
  ])
}
