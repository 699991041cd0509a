/** `witan agents export`: agents, the protocols that they speak and the bases that they search, as text that apply takes and that changes nothing there. */
import type { Client } from '@witan/client'
import { Document, visit } from 'yaml'
import { shownJsonText } from '@witan/protocol/shown'
import type { AgentData } from '@witan/protocol'
import { knowledgeUses, withoutStoredBase } from '@witan/protocol/knowledge'
import { withoutStored } from '@witan/protocol/schemas'
import { storedBases } from '../apply/bases.ts'
import { storedAgents } from '../apply/plan.ts'
import { storedProtocols } from '../apply/protocols.ts'
import type { Command, Given } from '../command.ts'
import { connectionOptions } from '../command.ts'
import { connected } from '../connect.ts'
import { UsageError } from '../exit.ts'
import { printJson, type Terminal, writeData } from '../terminal.ts'

export const exportCommand: Command = {
  name: 'agents export',
  summary: 'Print agents as YAML or JSON that apply takes, with their protocols and knowledge bases: all, or these.',
  operands: [{ name: 'AGENT', optional: true, many: true }],
  options: { format: { value: 'FORMAT', help: 'yaml or json; json by default.' }, ...connectionOptions },
  run: (given, terminal) => {
    const format = formatOf(given)
    return connected(given, terminal, (client) => exportAgents({ client, format }, given, terminal))
  },
}

type Format = 'yaml' | 'json'

function formatOf(given: Given): Format {
  const format = given.text('format') ?? 'json'
  if (format === 'yaml' || format === 'json') return format
  throw new UsageError(`--format "${format}" is not known.`, 'Write --format yaml or --format json.')
}

async function exportAgents(
  { client, format }: { readonly client: Client; readonly format: Format },
  given: Given,
  terminal: Terminal,
): Promise<void> {
  const ids = [...new Set(given.operands)]
  const stored = ids.length === 0 ? [...(await storedAgents(client)).values()] : await eachOf(client, ids)
  const agents = stored.map((agent) => withoutStored(agent))
  const protocols = await protocolsOf(client, ids.length === 0 ? null : agents)
  const knowledge = await basesOf(client, ids.length === 0 ? null : agents)
  const exported = {
    ...(protocols.length === 0 ? {} : { protocols }),
    ...(knowledge.length === 0 ? {} : { knowledge }),
    agents,
  }
  if (format === 'json') printJson(terminal, exported)
  else writeData(terminal.output, toYaml(exported).trimEnd())
}

/** The protocols that these agents speak, by name; null: all. */
async function protocolsOf(client: Client, agents: readonly AgentData[] | null): Promise<readonly unknown[]> {
  const wanted = agents && new Set(agents.flatMap(({ speaks }) => speaks.map(({ protocol }) => protocol)))
  if (wanted?.size === 0) return []
  const stored = [...(await storedProtocols(client)).values()]
  return stored.filter(({ name }) => wanted?.has(name) ?? true).map((protocol) => withoutStored(protocol))
}

/** The knowledge bases that these agents search, by id, without their documents; null: all. */
async function basesOf(client: Client, agents: readonly AgentData[] | null): Promise<readonly unknown[]> {
  const wanted = agents && new Set(agents.flatMap((agent) => knowledgeUses(agent).map(({ id }) => id)))
  if (wanted?.size === 0) return []
  const stored = [...(await storedBases(client)).values()]
  return stored.filter(({ id }) => wanted?.has(id) ?? true).map((base) => withoutStoredBase(base))
}

function eachOf(client: Client, ids: readonly string[]) {
  return Promise.all(ids.map((id) => client.agents.get(id)))
}

/**
 * Definitions as one YAML document; long lines are not folded, so that a diff of two exports is readable. A text with a hidden
 * character is in double quotes with an escape: a terminal shows it, and apply reads the same text.
 */
export function toYaml(definitions: object): string {
  const document = new Document(definitions, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && shownJsonText(node.value) !== node.value) node.type = 'QUOTE_DOUBLE'
    },
  })
  return shownJsonText(document.toString({ lineWidth: 0 }))
}
