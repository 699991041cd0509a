/** `witan serve`: a server until it is told to stop. */
import { startServer } from '@witan/server'
import type { Command } from '../command.ts'
import { configOption } from '../command.ts'
import { StartError } from '../exit.ts'
import { readConfig } from '../loading.ts'
import { endOf, surviveStrayRejections, untilStopped } from '../stopping.ts'
import { print } from '../terminal.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve the agents over HTTP, with the Studio.',
  options: configOption,
  run: async (given, terminal) => {
    const config = await readConfig(given, terminal)
    surviveStrayRejections()
    const server = await startServer(config).catch((error: unknown) => {
      throw new StartError(error)
    })
    const { url, pageUrl } = server
    const line = terminal.output.isTTY
      ? `witan serves ${pageUrl}`
      : JSON.stringify({ type: 'ready', url, pageUrl, pid: process.pid })
    print(terminal.output, line)
    await untilStopped()
    return endOf(await server.close())
  },
}
