/** `npm run desk` begins with this: it makes the data, and reads the documents into the knowledge bases of the store. */
import { fileURLToPath } from 'node:url'
import { isWitanError } from '@witan/protocol'
import { createLog, loadConfig, openRuntime } from '@witan/server'
import { ingestDocuments } from './ingest.ts'
import { placesIn } from './data/make-data.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

async function main(): Promise<void> {
  const config = await loadConfig({ file: here('witan.config.ts'), env: process.env })
  const runtime = await openRuntime(config, createLog('warn'))
  await ingestDocuments(runtime, placesIn(process.env['DESK_DATA'] ?? here('.witan/data')).documents)
  await runtime.close()
}

await main().catch((error: unknown) => {
  if (!isWitanError(error)) throw error
  console.error(`✗ ${error.message}\n  ${error.hint}`)
  process.exitCode = 1
})
