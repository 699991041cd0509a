/** `witan agents …`: agents as data. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import type { AgentToSave, Client } from '@witan/client'
import type { StoredAgent } from '@witan/protocol'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { connect } from '../connect.ts'
import type { ExitCode } from '../exit.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { printJson, printList } from '../listing.ts'
import type { Terminal } from '../terminal.ts'
import { print } from '../terminal.ts'

const one = [{ name: 'AGENT' }]

/** The commands about agents. */
export const agentCommands: readonly Command[] = [
  {
    name: 'agents list',
    summary: 'List the agents.',
    options: { ...jsonOption, ...connectionOptions },
    run: (given, terminal) => connected(given, terminal, list),
  },
  {
    name: 'agents show',
    summary: 'Print one agent as JSON, with its revision and what the check said.',
    operands: one,
    options: connectionOptions,
    run: (given, terminal) =>
      connected(given, terminal, async (client) => printJson(terminal, await client.agents.get(operand(given)))),
  },
  {
    name: 'agents apply',
    summary: 'Save agents from a JSON file: one, a list, or what export printed. All or none.',
    options: { file: { value: 'FILE', short: 'f', help: 'The file; - reads standard input.' }, ...connectionOptions },
    examples: ['witan agents export > agents.json && witan agents apply -f agents.json'],
    run: async (given, terminal) => {
      const agents = await readAgents(given, terminal)
      return await connected(given, terminal, (client) => apply(client, agents, terminal))
    },
  },
  {
    name: 'agents export',
    summary: 'Print agents as JSON that apply takes: all, or one.',
    operands: [{ name: 'AGENT', optional: true }],
    options: connectionOptions,
    run: (given, terminal) => connected(given, terminal, exportAgents),
  },
  {
    name: 'agents delete',
    summary: 'Delete an agent.',
    operands: one,
    options: { force: { help: 'Also if other agents list it.' }, ...connectionOptions },
    run: (given, terminal) =>
      connected(given, terminal, async (client) => {
        await client.agents.delete(operand(given), { force: given.has('force') })
        print(terminal.output, `deleted ${operand(given)}`)
      }),
  },
]

type Work = (client: Client, given: Given, terminal: Terminal) => Promise<void>

async function connected(given: Given, terminal: Terminal, work: Work): Promise<ExitCode> {
  const connection = await connect(given, terminal)
  try {
    await work(connection.client, given, terminal)
    return exitCodes.done
  } finally {
    await connection.close()
  }
}

async function list(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const items = await allAgents(client)
  printList(terminal, given, {
    items,
    columns: [
      { title: 'AGENT', tone: 'strong' },
      { title: 'MODEL' },
      { title: 'REVISION' },
      { title: 'SOURCE' },
      { title: 'DESCRIPTION', tone: 'faint' },
    ],
    cells: (agent) => [agent.id, agent.model, String(agent.revision), agent.source, agent.description],
    none: 'There are no agents yet. witan agents apply -f FILE saves some.',
  })
}

async function apply(client: Client, agents: readonly AgentToSave[], terminal: Terminal): Promise<void> {
  const saved = await client.agents.batch(agents)
  for (const agent of saved) {
    print(terminal.output, `saved ${agent.id} (revision ${agent.revision})`)
    for (const warning of agent.warnings) print(terminal.errors, `! ${warning.code}  ${warning.detail}`)
  }
}

/** Without what the server adds, so that the same agents always give the same text. */
async function exportAgents(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const [id] = given.operands
  const agents = id === undefined ? await allAgents(client) : [await client.agents.get(id)]
  printJson(terminal, { agents: agents.map(withoutStoredFields) })
}

async function allAgents(client: Client): Promise<StoredAgent[]> {
  const agents: StoredAgent[] = []
  for await (const agent of client.agents.all()) agents.push(agent)
  return agents
}

function withoutStoredFields({ revision: _revision, source: _source, warnings: _warnings, ...agent }: StoredAgent) {
  return agent
}

async function readAgents(given: Given, terminal: Terminal): Promise<readonly AgentToSave[]> {
  const file = given.text('file')
  if (file === undefined)
    throw new UsageError('witan agents apply needs -f FILE.', 'Write -f agents.json, or -f - for standard input.')
  if (/\.ya?ml$/i.test(file)) {
    throw new UsageError(
      `"${file}" is YAML, which is not built yet.`,
      'Give the same agents as JSON: {"agents": [ … ]}.',
    )
  }
  const content = file === '-' ? await readAll(terminal.input) : await readText(resolve(terminal.folder, file), file)
  const value = parseJson(content, file)
  if (Array.isArray(value)) return value as AgentToSave[]
  if (typeof value === 'object' && value !== null && 'agents' in value && Array.isArray(value.agents))
    return value.agents as AgentToSave[]
  if (typeof value === 'object' && value !== null) return [value as AgentToSave]
  throw new UsageError(
    `"${file}" holds no agent.`,
    'An agent is an object with id, model and instructions; several stand in {"agents": [ … ]}.',
  )
}

async function readText(path: string, file: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'There is no file' : 'Cannot read'
    throw new UsageError(`${why} "${file}".`, 'Is the path right, seen from here?')
  }
}

function parseJson(content: string, file: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    throw new UsageError(
      `"${file}" is not JSON: ${error instanceof Error ? error.message : String(error)}`,
      'Mend it there.',
    )
  }
}

function operand(given: Given): string {
  return given.operands[0] ?? ''
}
