/** What the commands print of a run whose control is handed over. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { witan } from './testing/witan.ts'

const config = ['--config', fileURLToPath(new URL('./testing/hand-over.config.ts', import.meta.url))]
const figures = /( {2}\d+ ms)( {2}\d+ tok)?/g

test('[K07] `run` shows who hands over to whom, and heads the answer with the agent that gave it', async () => {
  const { out, code } = await witan(['run', 'desk', 'Where is my bill?', ...config])
  assert.equal(code, 0)
  const lines = [
    'desk  Where is my bill?',
    '│ desk → billing',
    '│ ✓ billing',
    '✓ desk',
    '',
    'billing:',
    'Your bill is paid.',
  ]
  assert.ok(out.replaceAll(figures, '').includes(`\n${lines.join('\n')}\n`), out)
})

test('[C25] where control came back, the answer is that of the root, and no name stands above it', async () => {
  const { out } = await witan(['run', 'desk', 'Where is the letter?', ...config])
  assert.match(out, /│ archive → desk \(back\) {2}It is in box 7\.\n✓ desk .*\n\nThe archive has it\.\n/)
})

test('the answer of a follow-up is headed by its agent too', async () => {
  const { out, code } = await witan(['run', 'desk', 'Count the bills.', '--wait', ...config])
  assert.equal(code, 0)
  assert.match(out, /The clerk counts\.\n.*⇢ from the background\n\nbilling:\nYour bill is paid\.\n/s)
})

test('`run` on a terminal and `conversations show` draw the same tree', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'witan-hand-over-'))
  context.after(() => rm(folder, { recursive: true }))
  const environment = { WITAN_STORE_URL: `file:${join(folder, 'witan.db')}`, NO_COLOR: '1' }
  const id = ['--id', 'chats/1']
  const run = await witan(['run', 'desk', 'Where is my bill?', ...id, ...config], { environment, columns: 60 })
  assert.match(run.out, /✓ desk .*\n└─ ✓ desk → billing .*\n.*\n?billing:\nYour bill is paid\.\n/s)
  await witan(['run', 'desk', 'Where is the letter?', ...id, ...config], { environment })
  const { out } = await witan(['conversations', 'show', 'chats/1', ...config], { environment })
  const shown = out
    .replaceAll(/ +\d+ ms +\d+ tok/g, '')
    .split('\n')
    .slice(1)
  assert.deepEqual(shown, [
    ...['', '› Where is my bill?', '', '✓ desk  Where is my bill?', '└─ ✓ desk → billing'],
    ...['', 'billing:', 'Your bill is paid.'],
    ...['', '› Where is the letter?', '', '✓ desk  Where is the letter?'],
    ...['├─ ✓ desk → archive', '│  └─ It is in box 7.', '└─ archive → desk (back)'],
    ...['', 'The archive has it.', ''],
  ])
})
