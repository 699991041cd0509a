/** Runs every example in this one process and prints, as one line of JSON, what each of them printed. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { formatWithOptions } from 'node:util'
import { exampleFolder } from './pages.ts'

const printed: Record<string, string> = {}
const { log } = console
for (const name of globSync('*.ts', { cwd: exampleFolder }).sort()) {
  const lines: string[] = []
  console.log = (...words: unknown[]) => void lines.push(formatWithOptions({ colors: false }, ...words))
  await import(join(exampleFolder, name))
  printed[name] = lines.map((line) => `${line}\n`).join('')
}
console.log = log
console.log(JSON.stringify(printed))
