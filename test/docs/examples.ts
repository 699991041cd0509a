/** Running the examples: one child process for all, since each of them may leave nothing behind but what it prints. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { testServer } from '../postgres/support/server.ts'
import { asAdmin } from '../postgres/support/stores.ts'
import { root } from './pages.ts'

const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env

/** What every example printed, by file name. Rejects with what a broken one said. */
export async function runExamples(): Promise<Readonly<Record<string, string>>> {
  const databaseUrl = await testServer()
  await asAdmin(databaseUrl, (client) => client.query('drop schema if exists witan_example cascade'))
  const words = ['--conditions=witan-source', join(import.meta.dirname, 'run-examples.ts')]
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: { PATH, NODE_COMPILE_CACHE, NO_COLOR: '1', DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [printed, complaints, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(`an example failed with exit code ${code}:\n${complaints}`)
  if (complaints !== '') throw new Error(`an example complained:\n${complaints}`)
  return JSON.parse(printed) as Record<string, string>
}
