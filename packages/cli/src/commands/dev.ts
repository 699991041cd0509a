/** `witan dev`: server, Studio, and a new start of both when the configuration changes. */
import { createClient } from '@witan/client'
import type { Config, WitanServer } from '@witan/server'
import { configFileNames } from '@witan/server'
import type { Command, Given } from '../command.ts'
import { configOption } from '../command.ts'
import { converse } from '../conversing.ts'
import { UsageError } from '../exit.ts'
import { printFailure } from '../failure.ts'
import { keepToken, readKeptToken, tokenFileOf } from '../kept-token.ts'
import { nearPath, quiet, readConfig, readConfigFile } from '../loading.ts'
import { parameterOptions, readParameters } from '../parameters.ts'
import { createProjectModules, type ProjectModules, watchForFile } from '../reloading.ts'
import { portOption, start, withGivenPort } from '../starting.ts'
import { endOf, surviveStrayRejections, untilStopped } from '../stopping.ts'
import type { Terminal } from '../terminal.ts'
import { print } from '../terminal.ts'
import { version } from '../version.ts'
import { printWelcome } from '../welcome.ts'

export const devCommand: Command = {
  name: 'dev',
  summary: 'Serve the agents with the Studio, and restart when the configuration changes.',
  options: {
    ...portOption,
    ...configOption,
    run: { value: 'AGENT', help: 'Run that agent once at the start, with --message.' },
    message: { value: 'TEXT', help: 'What the first run is asked.' },
    ...parameterOptions,
  },
  examples: [
    'witan dev --port 5000',
    'witan dev --run front-desk --message "Who is my manager?" --param userId=employees/3',
  ],
  run: async (given, at) => {
    checkFirstRun(given)
    const terminal = withGivenPort(given, at)
    const config = await readConfig(given, terminal)
    const project: Project = {
      given,
      terminal,
      modules: config.file === null ? null : createProjectModules(config.file),
    }
    try {
      // Once more, now that it is known which modules to follow.
      return await serve(project, project.modules === null ? config : await readConfig(given, terminal))
    } finally {
      project.modules?.close()
    }
  },
}

interface Project {
  readonly given: Given
  readonly terminal: Terminal
  /** Null until there is a configuration. */
  modules: ProjectModules | null
}

async function serve(project: Project, config: Config) {
  const { terminal } = project
  printHead(terminal, config)
  const server = await start(quiet(config), { token: await readKeptToken(tokenFileOf(config)) })
  const state: State = { config, server, conversation: null }
  await remember(terminal, state)
  state.conversation = await firstRun(project, server)
  surviveStrayRejections()
  const stopped = untilStopped()
  let turn = Promise.resolve()
  const watching = watchProject(project, state, () => {
    turn = turn.then(() => {
      project.modules?.renew()
      return restart(project, state)
    })
  })
  // A person who reads the address may stop the server, or change a file.
  printAddress(terminal, state)
  await stopped
  watching.close()
  await turn
  return endOf(await state.server.close())
}

interface State {
  config: Config
  server: WitanServer
  /** The conversation of the first run, as long as the server has it: what the Studio shows first. */
  conversation: string | null
}

/** Follows the configuration's modules; where there is no configuration, waits for one in its folder and follows that. */
function watchProject(project: Project, state: State, changed: () => void): { close(): void } {
  let watching = project.modules?.watch(changed)
  const waiting =
    state.config.file === null
      ? watchForFile({ folder: state.config.folder, names: configFileNames }, (file) => {
          if (state.config.file !== null) return
          watching?.close()
          project.modules?.close()
          project.modules = createProjectModules(file)
          watching = project.modules.watch(changed)
          changed()
        })
      : undefined
  return {
    close() {
      waiting?.close()
      watching?.close()
    },
  }
}

/** Restarts with the changed configuration. If it cannot be read or started, reports this and keeps the old one. */
async function restart({ terminal }: Project, state: State): Promise<void> {
  try {
    const read = await readConfigFile(state.config.file ?? undefined, terminal)
    const next = keepPort(read, state)
    const token = state.server.token ?? (await readKeptToken(tokenFileOf(read)))
    await state.server.close()
    try {
      state.server = await start(quiet(next), { token })
    } catch (error) {
      state.server = await start(quiet(keepPort(state.config, state)), { token })
      throw error
    }
    if (read.store.url !== state.config.store.url || read.store.url === 'memory:') state.conversation = null
    state.config = read
    await remember(terminal, state)
    note(terminal, 'The configuration changed: taken up.')
    printAddress(terminal, state)
  } catch (error) {
    printFailure(terminal, error)
    note(terminal, 'The configuration before it goes on.')
  }
}

/** Port 0 was any free one: the one that was found stays. */
function keepPort(next: Config, { config, server }: State): Config {
  if (next.server.port !== config.server.port) return next
  return { ...next, server: { ...next.server, port: server.port } }
}

/** Keeps the token for the next start. A disk that refuses it stops nothing. */
async function remember(terminal: Terminal, { config, server: { token } }: State): Promise<void> {
  const file = tokenFileOf(config)
  if (token === null || token === (await readKeptToken(file))) return
  try {
    await keepToken(file, token)
  } catch (error) {
    const { code = 'refused' } = error as NodeJS.ErrnoException
    note(terminal, `The token cannot be kept in ${file} (${code}): the next start prints a new one.`)
  }
}

function checkFirstRun(given: Given): void {
  if (given.has('run') === given.has('message')) return
  throw new UsageError('--run and --message belong together.', 'Write --run AGENT --message TEXT.')
}

/** The conversation of the run that `--run` asks for; null without one, and where it never began. */
async function firstRun({ given, terminal }: Project, { url, token }: WitanServer): Promise<string | null> {
  const agent = given.text('run')
  const message = given.text('message')
  if (agent === undefined || message === undefined) return null
  const shown = token ?? terminal.environment.WITAN_TOKEN
  const client = createClient({ url, ...(shown === undefined ? {} : { token: shown }) })
  try {
    const parameters = await readParameters(given, agent, client)
    const chat = client.conversation(agent, { parameters })
    const connection = { client, url, lasts: true, options: configWords(given), close: () => Promise.resolve() }
    const stage = { terminal, connection, chat }
    await printWelcome(stage, message)
    await converse(stage, message)
    print(terminal)
    return chat.id
  } catch (error) {
    printFailure(terminal, error)
    return null
  } finally {
    client.close()
  }
}

function configWords(given: Given): string {
  const file = given.text('config')
  return file === undefined ? '' : ` --config ${file}`
}

function printHead(terminal: Terminal, config: Config): void {
  const file = config.file === null ? 'no configuration file: defaults' : nearPath(config.file, terminal.folder)
  print(terminal, [
    { text: `witan ${version()}`, tone: 'strong' },
    { text: `  ${file}`, tone: 'faint' },
  ])
  print(terminal)
}

/** What a browser opens: the conversation that the terminal has shown, where there is one. */
function pageOf({ server: { pageUrl }, conversation }: State): string {
  if (conversation === null) return pageUrl
  const page = new URL(pageUrl)
  page.pathname = `/conversations/${conversation.replace('/', ':')}`
  return page.href
}

function printAddress(terminal: Terminal, state: State): void {
  print(terminal, [
    { text: '  Studio  ', tone: 'faint' },
    { text: pageOf(state), tone: 'busy' },
  ])
  print(terminal, [
    { text: '  API     ', tone: 'faint' },
    { text: `${state.server.url}/api/v1`, tone: 'plain' },
  ])
  print(terminal, [{ text: `  Ctrl+C stops; ${whatIsTakenUp(state.config)} is taken up at once.`, tone: 'faint' }])
  print(terminal)
}

function whatIsTakenUp({ file }: Config): string {
  return file === null ? `a ${configFileNames[0]} written in this folder` : 'a change of the configuration'
}

function note(terminal: Terminal, text: string): void {
  print(terminal, [{ text: `↻ ${text}`, tone: 'busy' }])
}
