/** `witan agents apply`, `witan protocols apply` and `witan knowledge apply`: shows what files would change of agents, protocols and knowledge bases, asks who is at the terminal, and changes it in one batch. */
import type { Client } from '@witan/client'
import type { StoredAgent } from '@witan/protocol'
import { WitanError } from '@witan/protocol'
import { agentEdgesOf } from '@witan/protocol/edges'
import { planLines, troubleLines } from '../apply/lines.ts'
import type { Plan } from '../apply/plan.ts'
import { planOf, storedAgents } from '../apply/plan.ts'
import { storedBases } from '../apply/bases.ts'
import { storedProtocols } from '../apply/protocols.ts'
import { readSources } from '../apply/source.ts'
import type { Command, Given, Option } from '../command.ts'
import { connectionOptions } from '../command.ts'
import { askYes, canAsk } from '../confirming.ts'
import { withClient } from '../connect.ts'
import type { ExitCode } from '../exit.ts'
import { exitCodes, UsageError } from '../exit.ts'
import type { Output, Terminal } from '../terminal.ts'
import { print, printProse } from '../terminal.ts'
import type { Line } from '../tree/lines.ts'

const optionsOfApply: Readonly<Record<string, Option>> = {
  file: { value: 'FILE', short: 'f', multiple: true, help: 'A file, a folder, or - for standard input; repeatable.' },
  yes: { short: 'y', help: 'Do not ask.' },
  'dry-run': { help: 'Only show what would change.' },
}
const optionsOfPrune: Readonly<Record<string, Option>> = {
  yes: { short: 'y', help: 'Do not ask. Required with --prune in a script.' },
  prune: {
    help: 'Also delete agents that the files do not have, but never those of code. Protocols and bases stay.',
  },
}

export const applyCommand: Command = {
  ...applyAs('agents apply', { example: 'agents.yaml' }),
  summary:
    'Save agents, protocols and knowledge bases from YAML or JSON: shows what would change, asks at a terminal, and saves all or none.',
  examples: [
    'witan agents apply -f agents/ --dry-run',
    'witan agents export --format yaml > agents.yaml && witan agents apply -f agents.yaml',
  ],
}

/** `witan <name>`, which saves all that the files have. `prunes`: it also deletes agents, if it is asked to. */
export function applyAs(
  name: string,
  { example, prunes = true }: { readonly example: string; readonly prunes?: boolean },
): Pick<Command, 'name' | 'options' | 'run'> {
  return {
    name,
    options: { ...optionsOfApply, ...(prunes ? optionsOfPrune : {}), ...connectionOptions },
    run: async (given, terminal) => {
      const files = given.texts('file')
      if (files.length === 0)
        throw new UsageError(`witan ${name} needs -f FILE.`, `Write -f ${example}, or -f - for standard input.`)
      const written = await readSources(files, terminal)
      if (written.length === 0)
        throw new UsageError(
          `"${files.join('", "')}" holds no agent, protocol or knowledge base.`,
          'An agent is a mapping with id and model, a protocol one with name and messages; bases stand under `knowledge`.',
        )
      return await withClient(given, terminal, async (client) => {
        const plan = await planOf(client, written, { prune: given.has('prune') })
        return await decide({ client, plan, given, terminal })
      })
    },
  }
}

interface Applying {
  readonly client: Client
  readonly plan: Plan
  readonly given: Given
  readonly terminal: Terminal
}

async function decide({ client, plan, given, terminal }: Applying): Promise<ExitCode> {
  if (plan.errors.length > 0) {
    show(terminal, plan.errors.flatMap(troubleLines), terminal.errors)
    print(terminal, 'Nothing was changed.', terminal.errors)
    return exitCodes.usage
  }
  show(terminal, planLines(plan))
  const isIdle = changedIn(plan).every((list) => list.length === 0) && plan.pruned.length === 0
  if (isIdle || given.has('dry-run')) return exitCodes.done
  if (!(await mayChange({ plan, given, terminal }))) {
    print(terminal, 'Nothing was changed.')
    return exitCodes.failed
  }
  await refuseOvertaken(client, plan)
  await change(client, plan, terminal)
  return exitCodes.done
}

/** A script that names its files has said what it wants saved; what it would delete it has not named. */
async function mayChange({ plan, given, terminal }: Omit<Applying, 'client'>): Promise<boolean> {
  if (given.has('yes')) return true
  if (canAsk(terminal) && !given.texts('file').includes('-')) return await askYes(terminal, questionOf(plan))
  if (plan.pruned.length === 0) return true
  const next = 'Add --yes to delete them, or --dry-run to only look.'
  throw new UsageError('Nothing was changed: without a terminal, deleting agents cannot be confirmed.', next)
}

/** Prints all lines uncut, so that a person confirms only what was shown. */
function show(terminal: Terminal, lines: readonly Line[], to: Output = terminal.output): void {
  for (const line of lines) printProse(terminal, line, { to, indent: 6 })
}

function changing<One extends { readonly changes: readonly unknown[] }>(list: readonly One[]): readonly One[] {
  return list.filter(({ changes }) => changes.length > 0)
}

/** What changes: agents, protocols and knowledge bases. */
function changedIn({ planned, protocols, bases }: Plan) {
  return [changing(planned), changing(protocols), changing(bases)] as const
}

function questionOf(plan: Plan): string {
  const names = ['agents', 'protocols', 'knowledge bases'].filter((_, at) => (changedIn(plan)[at]?.length ?? 0) > 0)
  const what = names.length === 0 ? ['agents'] : names
  return `Change these ${[what.slice(0, -1).join(', '), what.at(-1)].filter((part) => part !== '').join(' and ')}?`
}

/** Checks that the shown plan is still current: an agent may have changed while the command asked. */
async function refuseOvertaken(client: Client, plan: Plan): Promise<void> {
  const [agents, protocols, bases] = changedIn(plan)
  const pruned = plan.pruned.map((agent) => ({ name: agent.id, stored: agent }))
  refuseOther('Agent', [...agents, ...pruned], await storedAgents(client))
  if (protocols.length > 0) refuseOther('Protocol', protocols, await storedProtocols(client))
  if (bases.length > 0) refuseOther('Knowledge base', bases, await storedBases(client))
}

type Revised = { readonly revision: number } | null

function refuseOther(
  what: string,
  seen: readonly { readonly name: string; readonly stored: Revised }[],
  now: ReadonlyMap<string, Revised>,
): void {
  for (const { name, stored } of seen)
    if ((now.get(name)?.revision ?? 0) !== (stored?.revision ?? 0)) throw overtaken(`${what} \`${name}\``)
}

function overtaken(called: string): WitanError {
  return new WitanError('REVISION_MISMATCH', `${called} was changed meanwhile; nothing was done.`, {
    hint: 'Apply again to see what would change now.',
  })
}

async function change(client: Client, plan: Plan, terminal: Terminal): Promise<void> {
  const [agents, protocols, bases] = changedIn(plan)
  const dataOf = <Data>(list: readonly { readonly data: Data }[]) => list.map(({ data }) => data)
  const isIdle = agents.length + protocols.length + bases.length === 0
  const beside = [
    protocols.length === 0 ? undefined : dataOf(protocols),
    bases.length === 0 ? undefined : dataOf(bases),
  ] as const
  const saved = isIdle ? [] : await client.agents.batch(dataOf(agents), ...beside)
  for (const { name } of protocols) print(terminal, `saved protocol ${name}`)
  for (const { name } of bases) print(terminal, `saved knowledge base ${name}`)
  for (const { id, revision } of saved) print(terminal, `saved ${id} (revision ${revision})`)
  for (const agent of inOrder(plan.pruned)) {
    await client.agents.delete(agent.id, { force: true })
    print(terminal, `deleted ${agent.id}`)
  }
}

/** Parents before the agents that they list, except in cycles. No remaining agent lists one of them. */
function inOrder(agents: readonly StoredAgent[]): readonly StoredAgent[] {
  const left = new Map(agents.map((agent) => [agent.id, agent]))
  const order: StoredAgent[] = []
  while (left.size > 0) {
    const listed = new Set([...left.values()].flatMap((agent) => agentEdgesOf(agent).map((edge) => edge.agent)))
    const free = [...left.values()].filter(({ id }) => !listed.has(id))
    for (const agent of free.length > 0 ? free : left.values()) {
      order.push(agent)
      left.delete(agent.id)
    }
  }
  return order
}
