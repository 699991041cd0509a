/** `witan serve`: runs a server until a signal stops it. */
import type { Command } from '../command.ts'
import { configOption } from '../command.ts'
import { readConfig } from '../loading.ts'
import { portOption, start, withGivenPort } from '../starting.ts'
import { endOf, surviveStrayRejections, untilStopped } from '../stopping.ts'
import { print, printJsonLine } from '../terminal.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve the agents over HTTP, with the Studio.',
  options: { ...portOption, ...configOption },
  run: async (given, terminal) => {
    const config = await readConfig(given, withGivenPort(given, terminal))
    surviveStrayRejections()
    const server = await start(config)
    // Who reads the line below may stop the server at once.
    const stopped = untilStopped()
    const { url, pageUrl } = server
    if (terminal.output.isTTY === true) print(terminal, `witan serves ${pageUrl}`)
    else printJsonLine(terminal, { type: 'ready', url, pageUrl, pid: process.pid })
    await stopped
    return endOf(await server.close())
  },
}
