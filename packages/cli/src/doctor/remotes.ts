/** Agents on other servers: whether this server may call any, how it is reached itself, and whether each remote can be found. */
import { createSafeFetch, resolveAddress, resolveCard } from '@witan/core/tooling'
import { readAddress } from '@witan/protocol/names'
import type { Config } from '@witan/server'
import { bad, type DoctorFinding, good, refused, warning } from './finding.ts'

/** An edge to a remote, as a configuration has it. */
interface Remote {
  readonly agent: string
  readonly name: string
  readonly address?: string
  readonly card?: string
  readonly bearerEnv?: string
}

/** The most remotes that are looked for. */
const mostAsked = 50

/** The remotes of the configuration's agents, each looked for once, and the name of this server towards others. */
export async function lookAtRemotes(config: Config): Promise<DoctorFinding[]> {
  const remotes = remotesIn(config.agents)
  const isPublished = config.agents.some((agent) => typeof dataOf(agent)['address'] === 'string')
  const own = lookAtName(config, { isPublished, calls: remotes.length > 0 })
  const found = await Promise.all(remotes.slice(0, mostAsked).map((remote) => lookAt(remote, config)))
  return [...own, ...found]
}

function lookAtName(
  { server: { domain, domains, publicUrl } }: Config,
  { isPublished, calls }: { readonly isPublished: boolean; readonly calls: boolean },
): DoctorFinding[] {
  const hasDomain = domain !== undefined || Object.keys(domains ?? {}).length > 0
  if (!hasDomain && calls)
    return [bad('domain', 'This server has no domain, so it calls no remote.', 'Set server.domain to one of yours.')]
  if (!hasDomain || (!isPublished && !calls)) return []
  if (publicUrl !== undefined) return [good('domain', `${domain ?? 'further domains'}, reached at ${publicUrl}`)]
  if (!isPublished) return [good('domain', `${domain ?? 'further domains'}; others read its keys there`)]
  const text = `Cards lead to the address that it listens on: server.publicUrl is not set.`
  return [
    warning('domain', text, `Set server.publicUrl to where others reach it, such as https://${domain ?? 'b.example'}.`),
  ]
}

async function lookAt(remote: Remote, { env, federation }: Config): Promise<DoctorFinding> {
  const { agent, name, address, card, bearerEnv } = remote
  const area = `remote ${agent}/${name}`
  if (bearerEnv !== undefined && !env[bearerEnv])
    return bad(
      area,
      `The environment variable ${bearerEnv} is not set.`,
      `Set ${bearerEnv} to the credential for ${card}.`,
    )
  const way = { fetch: createSafeFetch({ resolve: federation.resolve }), note: () => undefined }
  try {
    const { endpoint, signedBy } = await (card === undefined ? byAddress(address ?? '', way) : resolveCard(card, way))
    const by = signedBy.length === 0 ? 'its card is not signed' : 'its card is signed'
    const answers = `${card ?? address} answers ${endpoint.binding} at ${endpoint.url}`
    return elsewhere(area, remote, { url: endpoint.url, answers }) ?? good(area, `${answers}; ${by}`)
  } catch (error) {
    return refused(area, error, `See each step: witan resolve ${card ?? address}`)
  }
}

/** A card that names another server than that of its URL or of its address; null if it does not. */
function elsewhere(
  area: string,
  { address = '', card, bearerEnv }: Remote,
  { url, answers }: { readonly url: string; readonly answers: string },
): DoctorFinding | null {
  const named = new URL(url)
  if (card !== undefined && bearerEnv !== undefined && new URL(card).origin !== named.origin) {
    const text = `${answers}, but \`bearerEnv\` is sent to ${new URL(card).origin} alone: no call of it succeeds.`
    return bad(area, text, `Ask its operator for a card at ${named.origin}, or leave \`bearerEnv\` out.`)
  }
  const read = readAddress(address)
  const own = card !== undefined ? new URL(card).hostname : read.ok ? read.address.domain : address
  if (named.hostname === own || named.hostname.endsWith(`.${own}`)) return null
  return warning(area, `${answers}, which is not on ${own}.`, `Ask its operator whether ${named.host} is theirs, too.`)
}

function byAddress(address: string, way: Parameters<typeof resolveAddress>[1]) {
  const read = readAddress(address)
  if (!read.ok) throw new Error(`\`${address}\` is no address: ${read.problem}.`)
  return resolveAddress(read.address, way)
}

function remotesIn(agents: Config['agents']): readonly Remote[] {
  return agents.flatMap((agent) => {
    const { id, remotes } = dataOf(agent)
    if (!Array.isArray(remotes)) return []
    return remotes.map((one: Omit<Remote, 'agent'>) => ({ ...one, agent: String(id) }))
  })
}

/** An agent of a configuration as data. */
function dataOf(agent: Config['agents'][number]): Readonly<Record<string, unknown>> {
  return ('data' in agent ? agent.data : agent) as Readonly<Record<string, unknown>>
}
