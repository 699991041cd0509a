/** Which model the agents use: a script each, or one model of a connection for all. */
import { existsSync } from 'node:fs'
import type { Connection } from '@witan/core'
import { byModel, byScript, type ModelOf } from './setups/setup.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Reads a file `.env` beside this one, if there is one. A variable that is set goes before it. */
export function loadKeys(): void {
  const file = new URL('./.env', import.meta.url)
  if (existsSync(file)) process.loadEnvFile(file)
}

/** The address of each connection, and the variable with its key. */
const known: Readonly<Record<string, readonly [url: string, key: string | null]>> = {
  openai: ['https://api.openai.com/v1', 'OPENAI_API_KEY'],
  anthropic: ['https://api.anthropic.com/v1', 'ANTHROPIC_API_KEY'],
  google: ['https://generativelanguage.googleapis.com/v1beta/openai', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  mistral: ['https://api.mistral.ai/v1', 'MISTRAL_API_KEY'],
  openrouter: ['https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'],
  local: ['http://127.0.0.1:11434/v1', null],
}

/** The models of a set-up, and the connections that they need. */
interface Choice {
  readonly modelOf: ModelOf
  readonly connections: Readonly<Record<string, Connection>>
}

/** Without a name every agent plays its script. Throws an error that says what is missing, and never shows a key. */
export function choose(name: string | undefined, env: Environment): Choice {
  if (name === undefined || name === '') return { modelOf: byScript, connections: {} }
  const [connection = '', model = ''] = name.split(/\/(.*)/s)
  const [url, variable] = connection === 'own' ? ownServer(env) : (known[connection] ?? [])
  if (url === undefined || model === '') {
    const names = [...Object.keys(known), 'own'].join(', ')
    throw new Error(
      `"${name}" names no model. Write a connection, "/" and a model of it; the connections are ${names}.`,
    )
  }
  const apiKey = variable === null || variable === undefined ? undefined : env[variable]
  if (typeof variable === 'string' && connection !== 'own' && !apiKey)
    throw new Error(
      `${variable} is not set. Put the key of "${connection}" there, or into a file .env beside package.json.`,
    )
  const key = apiKey ? { apiKey } : {}
  return { modelOf: byModel(name), connections: { [connection]: { kind: 'openai-compatible', baseUrl: url, ...key } } }
}

/** Any other server: a gateway, a model on another machine. Its key may be missing. */
function ownServer({ WITAN_BASE_URL: url }: Environment): readonly [string, string] {
  if (!url)
    throw new Error(
      'WITAN_BASE_URL is not set. Put the address of the server of "own" there, such as http://127.0.0.1:8080/v1.',
    )
  return [url, 'WITAN_API_KEY']
}
