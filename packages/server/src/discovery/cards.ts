/** The cards of published agents and of the hub, in both formats. */
import { isOpen, type PublishedAgent } from '@witan/core/tooling'
import { extensions } from '../a2a/binding.ts'
import type { Federation } from '../federation-config.ts'

/** Readers take cards of up to 64 KiB, so a long description is cut. */
const longestDescription = 5_000
const longestHubDescription = 300
const mostSkillBytes = 60_000

const textModes = ['text/plain', 'application/json']
const extensionList = extensions.map((uri) => ({ uri }))

/** How an agent is written in paths: its local part, and its domain if that is not the first one. */
export function segmentOf(
  { address }: Pick<PublishedAgent, 'address'>,
  { domain }: Pick<Federation, 'domain'>,
): string {
  return address.domain === domain ? address.local : `${address.local}@${address.domain}`
}

/** The Mentionable card [Mb14]. */
export function mentionableCard(agent: PublishedAgent, federation: Federation): object {
  const textMode = [{ kind: 'text', mime: 'text/plain' }]
  return {
    address: agent.address.text,
    ...headOf(agent),
    protocol_version: '0.1',
    a2a: {
      endpoint: endpointOf(agent, federation),
      transport: 'https+jsonrpc',
      capabilities: { streaming: true, push_notifications: false, extensions: extensionList },
      skills: [skillOf(agent)],
      input_modes: textMode,
      output_modes: textMode,
      auth: { scheme: 'bearer-jwt' },
    },
    mentionable: { supported_inbound: ['a2a'] },
  }
}

/** The A2A card of an agent, not signed yet. */
export function a2aCard(agent: PublishedAgent, federation: Federation): object {
  return cardOf(headOf(agent), {
    endpoint: endpointOf(agent, federation),
    isOpen: isOpen(agent.data.access),
    skills: [skillOf(agent)],
  })
}

/**
 * The A2A card of the hub of a domain, which has a skill for each published agent [Mb15]. What does not fit into what readers take is left
 * out, from the end of the names on: the hub answers for those agents too, and each has a card of its own.
 */
export function hubCard(agents: readonly PublishedAgent[], domain: string, federation: Federation): object {
  const base = domain === federation.domain ? federation.publicUrl() : `https://${domain}`
  const skills = firstSkills(agents)
  const left = agents.length - skills.length
  const about = 'Begins with @ and the name of an agent: the text goes to that agent.'
  const head = {
    name: domain,
    description: left === 0 ? about : `${about} Its skills are the first ${skills.length} of ${agents.length} agents.`,
    version: String(agents.reduce((sum, { revision }) => sum + revision, 0)),
  }
  return cardOf(head, { endpoint: `${base}/a2a`, isOpen: agents.every(({ data }) => isOpen(data.access)), skills })
}

/** The skills of the first agents, as far as they fit beside the rest of the card and two signatures. */
function firstSkills(agents: readonly PublishedAgent[]): readonly object[] {
  const skills: object[] = []
  let left = mostSkillBytes
  for (const agent of agents) {
    const skill = skillOf(agent, longestHubDescription)
    left -= Buffer.byteLength(JSON.stringify(skill)) + 1
    if (left < 0) break
    skills.push(skill)
  }
  return skills
}

interface CardParts {
  readonly endpoint: string
  /** Callers without a credential are let in. */
  readonly isOpen: boolean
  readonly skills: readonly object[]
}

function cardOf(head: object, { endpoint, isOpen: isOpenCard, skills }: CardParts): object {
  return {
    ...head,
    supportedInterfaces: [
      { url: endpoint, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${endpoint}/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: extensionList,
    },
    ...(isOpenCard
      ? {}
      : {
          securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
          securityRequirements: [{ schemes: { bearer: {} } }],
        }),
    defaultInputModes: textModes,
    defaultOutputModes: textModes,
    skills,
  }
}

function headOf({ data, revision }: PublishedAgent) {
  return {
    name: data.name ?? data.id,
    description: cut(data.description, longestDescription),
    version: String(revision),
  }
}

function skillOf({ address, data }: PublishedAgent, most = longestDescription): object {
  const description = cut(data.description, most)
  return { id: address.local, name: data.name ?? data.id, description, tags: ['agent'] }
}

/** Where the A2A card of an agent is. */
export function cardUrlOf(agent: PublishedAgent, federation: Federation): string {
  return `${endpointOf(agent, federation)}/.well-known/agent-card.json`
}

function endpointOf(agent: PublishedAgent, federation: Federation): string {
  return `${federation.publicUrl()}/a2a/${segmentOf(agent, federation)}`
}

/** The beginning of a text, never with half a character. */
function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')
}
