/** Starts real servers in one process, one after the other, for the tests of a file that each want an empty one. Ends with its parent. */
import { loadConfig, startServer, type WitanServer } from '@witan/server'

/** What the parent asks: a server on that configuration, or the end of the one that runs. */
export type Asked = { readonly start: string } | { readonly stop: true }
/** The reply: where the server listens, that it has ended, or why not. */
export type Replied = { readonly url: string } | { readonly stopped: true } | { readonly error: string }

let server: WitanServer | null = null

async function answer(asked: Asked): Promise<Replied> {
  if ('start' in asked) {
    server = await startServer(await loadConfig({ file: asked.start }))
    return { url: server.url }
  }
  const isDone = await server?.close()
  server = null
  return isDone === false ? { error: 'the server did not end in order' } : { stopped: true }
}

process.on('message', (asked: Asked) => {
  void answer(asked)
    .catch((error: unknown): Replied => ({ error: String(error) }))
    .then((replied) => process.send?.(replied))
})
process.on('disconnect', () => process.exit())
