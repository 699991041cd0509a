/** Writes into the pages what other files know: examples and what they print, and which test holds which rule. `npx node test/docs/embed.ts` */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runExamples } from './examples.ts'
import { withReport } from './faults.ts'
import { exampleFolder, examplePattern, pagePaths, readPage, root, withFiles } from './pages.ts'
import { refreshed } from './rules.ts'

const printed = await runExamples()
for (const path of pagePaths()) {
  const before = readPage(path)
  const page = path === 'docs/rules.md' ? refreshed(before) : path === 'docs/faults.md' ? withReport(before) : before
  const after = withFiles(page).replaceAll(examplePattern, (_, name: string) => {
    const code = readFileSync(join(exampleFolder, name), 'utf8')
    return `<!-- example: ${name} -->\n\`\`\`ts\n${code}\`\`\`\n\n\`\`\`text\n${printed[name] ?? ''}\`\`\`\n<!-- /example -->`
  })
  if (after === before) continue
  writeFileSync(join(root, path), after)
  console.log(`wrote ${path}`)
}
