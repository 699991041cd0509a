/** Loads the configuration, and says where in whose file the trouble is when it cannot be loaded. */
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isWitanError, WitanError } from '@witan/protocol'
import type { Config } from '@witan/server'
import { loadConfig } from '@witan/server'
import type { Given } from './command.ts'
import { StartError } from './exit.ts'
import type { Terminal } from './terminal.ts'

/** The configuration that the options, the environment or the folder name. Throws `StartError`. */
export function readConfig(given: Given, terminal: Terminal): Promise<Config> {
  return readConfigFile(given.text('config'), terminal)
}

/** The configuration in that file; without one it is looked for. Throws `StartError`. */
export async function readConfigFile(file: string | undefined, terminal: Terminal): Promise<Config> {
  const { environment: env, folder: cwd } = terminal
  try {
    return await loadConfig({ cwd, env, ...(file === undefined ? {} : { file }) })
  } catch (error) {
    throw new StartError(isWitanError(error) ? error : placed(error, cwd))
  }
}

/** The configuration without the server's notes, unless somebody asked for them. */
export function quiet(config: Config): Config {
  return config.env.WITAN_LOG_LEVEL ? config : { ...config, logLevel: 'warn' }
}

/** What a module of the configuration threw, or why it cannot be read, with file and line. */
function placed(error: unknown, folder: string): WitanError {
  const detail = error instanceof Error ? error.message : String(error)
  const place = error instanceof Error ? placeOf(error.stack ?? '', folder) : null
  return new WitanError('CONFIG_INVALID', detail, {
    cause: error,
    hint: 'The configuration, or a file that it imports, cannot be loaded.',
    ...(place === null ? {} : { path: place }),
  })
}

const stackPlace = /(?:^|[\s(])((?:file:\/\/)?\/[^\s?()]+?)(?:\?[^\s:()]*)?:(\d+)(?::\d+)?\)?$/gm
/** The folder that our own packages lie in. */
const ours = fileURLToPath(new URL('../../', import.meta.url))

/** The first place in a stack that is not in our own code: a syntax error has it on its first line. */
function placeOf(stack: string, folder: string): string | null {
  for (const [, name = '', line] of stack.matchAll(stackPlace)) {
    const file = name.startsWith('file:') ? fileURLToPath(name) : name
    if (file.startsWith(ours)) continue
    return `${nearPath(file, folder)}:${line}`
  }
  return null
}

/** The path as it is read from that folder: relative below it, else whole. */
export function nearPath(file: string, folder: string): string {
  const near = relative(folder, file)
  return near === '' || near.startsWith('..') ? file : near
}
