/** How a configuration is found, overridden by the environment, and refused. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { loadConfig, storeFile } from '@witan/server'

const folder = mkdtempSync(join(tmpdir(), 'witan-docs-'))
const write = (config: object) => writeFileSync(join(folder, 'witan.config.json'), JSON.stringify(config))
const below = join(folder, 'src', 'deep')
mkdirSync(below, { recursive: true })

write({ server: { port: 4000 }, store: { url: 'file:./data/app.db' } })
const config = await loadConfig({ cwd: below, env: { WITAN_PORT: '5000', MAX_SUB_AGENT_DEPTH: '3' } })
console.log(config.server, config.limits)
console.log(relative(folder, storeFile(config) ?? ''))

for (const wrong of [
  { servr: {} },
  { server: { domain: 'localhost' } },
  { store: { url: 'mysql://me:secret@localhost/app' } },
]) {
  write(wrong)
  await loadConfig({ cwd: folder, env: {} }).catch((error) =>
    console.log(error.code, error.path, '–', error.message.replace(`${config.file}: `, ''), error.hint),
  )
}
rmSync(folder, { recursive: true })
