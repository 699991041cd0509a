/** Each connection to models: whether something answers there, and whether its key is set. Keys are never printed. */
import { apiKeyOf, type Config, type ConnectionConfig } from '@witan/server'
import { bad, type DoctorFinding, good, warning } from './finding.ts'

const ANSWER_LIMIT_MS = 3_000

/** Asks every connection for its list of models. */
export async function lookAtConnections(config: Config): Promise<DoctorFinding[]> {
  const entries = Object.entries(config.connections)
  return await Promise.all(entries.map(([name, connection]) => lookAt(name, connection, config)))
}

async function lookAt(name: string, connection: ConnectionConfig, { env }: Config): Promise<DoctorFinding> {
  const area = `connection ${name}`
  const { baseUrl, apiKeyEnv } = connection
  const key = apiKeyOf(connection, env)
  const shown = withoutUser(baseUrl)
  if (shown !== new URL(baseUrl).href)
    return bad(
      area,
      `Its baseUrl (${shown}) holds a user or a password, which no request can carry.`,
      'Take it out; a key belongs in the variable that apiKeyEnv names.',
    )
  if (apiKeyEnv !== undefined && key === null)
    return bad(area, `The environment variable ${apiKeyEnv} is not set.`, `Set ${apiKeyEnv} to the key for ${shown}.`)
  try {
    const answer = await fetch(`${baseUrl.replace(/\/$/, '')}/models`, {
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      redirect: 'manual',
    })
    await answer.body?.cancel()
    return judge(area, answer.status, { shown, apiKeyEnv })
  } catch (error) {
    const text = `${shown} ${reasonOf(error)}.`
    return bad(area, text, `Start what should answer there, or correct connections.${name}.baseUrl.`)
  }
}

function judge(
  area: string,
  status: number,
  { shown, apiKeyEnv }: { readonly shown: string; readonly apiKeyEnv: string | undefined },
): DoctorFinding {
  const keyed = apiKeyEnv === undefined ? 'no key' : `the key in ${apiKeyEnv}`
  if (status === 401 || status === 403) {
    const fix = apiKeyEnv === undefined ? 'Name the variable that holds a key as apiKeyEnv.' : `Correct ${apiKeyEnv}.`
    return bad(area, `${shown} refuses ${keyed} (${status}).`, fix)
  }
  if (status >= 500) return warning(area, `${shown} answers with ${status}.`, 'Look at what that server writes.')
  if (status === 404) return good(area, `${shown} answers, with ${keyed}; it lists no models`)
  if (status >= 200 && status < 300) return good(area, `${shown} answers, with ${keyed}`)
  return warning(area, `${shown} answers with ${status}.`, 'See that baseUrl ends where /chat/completions begins.')
}

/** A user and a password may stand in a URL. */
function withoutUser(text: string): string {
  const url = new URL(text)
  url.username = ''
  url.password = ''
  return url.href
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'gave no answer within 3 s'
  const cause = error instanceof Error ? (error.cause as { code?: string; message?: string } | undefined) : undefined
  switch (cause?.code) {
    case 'ECONNREFUSED':
      return 'refuses the connection'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'has a host name that is not known'
    default:
      return `cannot be reached (${cause?.code ?? cause?.message ?? 'no reason given'})`
  }
}
