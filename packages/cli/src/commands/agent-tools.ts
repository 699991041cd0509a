/** `witan agents tools | preview | revisions`: what an agent's model would read, before anything runs. */
import type { Client } from '@witan/client'
import type { Preview, RevisionLine } from '@witan/protocol/tools'
import type { Command, Given } from '../command.ts'
import { connectionOptions, jsonOption } from '../command.ts'
import { connected } from '../connect.ts'
import { printList } from '../listing.ts'
import { parameterOptions, readParameters } from '../parameters.ts'
import type { Terminal } from '../terminal.ts'
import { print, printJson } from '../terminal.ts'

const one = [{ name: 'AGENT' }]

/** The commands that look at an agent before it runs. */
export const agentToolCommands: readonly Command[] = [
  {
    name: 'agents tools',
    summary: 'List the tools of an agent: what its model is offered, what it is not, and why.',
    operands: one,
    options: { ...jsonOption, ...connectionOptions },
    run: (given, terminal) => connected(given, terminal, listTools),
  },
  {
    name: 'agents preview',
    summary: 'Print what the first model call of an agent would get: its system message and its tools.',
    operands: one,
    options: {
      ...parameterOptions,
      below: { value: 'PATH', help: 'The path of agents that call it, such as boss/mid.' },
      ...jsonOption,
      ...connectionOptions,
    },
    examples: ['witan agents preview clerk --param country=DE', 'witan agents preview leaf --below boss/mid'],
    run: (given, terminal) => connected(given, terminal, preview),
  },
  {
    name: 'agents revisions',
    summary: 'List the revisions of an agent, newest first: who made each, when, and what it changed.',
    operands: one,
    options: { ...jsonOption, ...connectionOptions },
    run: (given, terminal) => connected(given, terminal, listRevisions),
  },
]

async function listTools(client: Client, given: Given, terminal: Terminal): Promise<void> {
  printList(terminal, given, {
    items: await client.agents.tools.list(operand(given)),
    columns: [
      { title: 'TOOL', tone: 'strong' },
      { title: 'KIND' },
      { title: 'OF' },
      { title: 'EFFECT' },
      { title: 'APPROVAL' },
      { title: 'DESCRIPTION', tone: 'faint' },
    ],
    cells: ({ name, kind, of, effect, approval, description, why }) => [
      name,
      kind,
      of ?? '–',
      effect ?? '–',
      approval,
      why === null ? description : `not offered: ${why}`,
    ],
    none: 'It has no tools.',
  })
}

async function listRevisions(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const items: RevisionLine[] = []
  for await (const line of client.agents.revisions.all(operand(given))) items.push(line)
  printList(terminal, given, {
    items,
    columns: [
      { title: 'REVISION', tone: 'strong' },
      { title: 'BY' },
      { title: 'AT' },
      { title: 'CHANGED', tone: 'faint' },
    ],
    cells: ({ revision, source, by, at, changed }) => [
      String(revision),
      by ?? (source === 'code' ? '(code)' : '–'),
      at ?? '–',
      changed.join(', '),
    ],
    none: 'There are none.',
  })
}

async function preview(client: Client, given: Given, terminal: Terminal): Promise<void> {
  const id = operand(given)
  const below = given.text('below') ?? null
  const parameters = await readParameters(given, below?.split('/')[0] ?? id, client)
  const shown = await client.agents.preview(id, { parameters, below })
  if (given.has('json')) return printJson(terminal, shown)
  for (const line of linesOf(shown)) print(terminal, line)
  for (const { code, detail } of [...shown.errors, ...shown.warnings, ...shown.notices])
    print(terminal, `${code}  ${detail}`, terminal.errors)
}

function linesOf({ system, tools, toolChoice, tokens, steps }: Preview): string[] {
  if (steps !== undefined)
    return steps.map(({ step, agent, round }) => `step ${step}: ${agent}${round === null ? '' : `, round ${round}`}`)
  const offered = tools.flatMap(({ name, description, parameters }) => [
    `${name}: ${description}`.trimEnd(),
    `  ${JSON.stringify(parameters)}`,
  ])
  const head = `Tools (${toolChoice ?? 'none'}), about ${tokens ?? 0} tokens with the system message:`
  return [...(system ?? '').split('\n'), '', head, ...offered]
}

function operand(given: Given): string {
  return given.operands[0] ?? ''
}
