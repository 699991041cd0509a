/** Reads the documents of the desk into its two knowledge bases. What is there already is not read again. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '@witan/core'

const mediaTypes: Readonly<Record<string, string>> = { md: 'text/markdown', html: 'text/html' }

/** The name of the folder below `contracts/` says whose contract it is: the attribute that the filter compares. */
export async function ingestDocuments(runtime: Runtime, folder: string): Promise<void> {
  for (const base of ['handbook', 'contracts']) {
    const paths = globSync('**/*.{md,html}', { cwd: join(folder, base) }).map((path) => path.replaceAll('\\', '/'))
    const documents = paths.sort().map((path) => ({
      key: path,
      text: readFileSync(join(folder, base, path), 'utf8'),
      mediaType: mediaTypes[path.split('.').at(-1) ?? ''] ?? 'text/plain',
      ...(base === 'contracts' ? { attributes: { account: path.split('/')[0] ?? '' } } : {}),
    }))
    const { failed } = await runtime.knowledge.documents.ingest(base, { documents })
    for (const { key, detail } of failed) console.error(`${base}/${key}: ${detail}`)
  }
}
