import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asShown } from '../shown.ts'
import type { Output } from '../terminal.ts'
import { createScreen, type Row } from './screen.ts'

const rows = (...texts: string[]): Row[] => texts.map((text) => ({ text: asShown(text), columns: text.length }))

function paper(columns: number, height: number) {
  const writes: string[] = []
  const output = { isTTY: true, columns, rows: height, write: (text: string) => writes.push(text) }
  const last = () => (writes.at(-1) ?? '').replaceAll('\u001b', '^')
  return { output: output satisfies Output, last, writes }
}

test('each drawing starts where the one before started', () => {
  const { output, last } = paper(40, 20)
  const screen = createScreen(output)
  screen.draw(rows('one', 'two'))
  assert.doesNotMatch(last(), /\^\[\d+A/)
  screen.draw(rows('one', 'two', 'three'))
  assert.match(last(), /\r\^\[2Aone\^\[K\ntwo\^\[K\nthree\^\[K\n\^\[0J/)
  screen.draw(rows('one'))
  assert.match(last(), /\r\^\[3Aone/)
})

test('what was written below goes with the next drawing, wrapped lines included', () => {
  const { output, last } = paper(10, 20)
  const screen = createScreen(output)
  screen.draw(rows('one'))
  screen.wrote([0, 10, 11])
  screen.draw(rows('one'))
  assert.match(last(), /\^\[5A/)
})

test('a terminal that became narrower has wrapped the lines', () => {
  const { output, last } = paper(40, 20)
  const screen = createScreen(output)
  screen.draw(rows('x'.repeat(30)))
  output.columns = 10
  screen.draw(rows('x'))
  assert.match(last(), /\^\[3A/)
})

test('what does not fit is left out at the top, and whole at the end', () => {
  const { output, last, writes } = paper(40, 6)
  const screen = createScreen(output)
  const all = rows('a', 'b', 'c', 'd', 'e', 'f')
  screen.draw(all)
  assert.match(last(), /… 3 lines above\^\[K\nd\^\[K\ne\^\[K\nf\^/)
  screen.finish(all)
  assert.match((writes.at(-2) ?? '').replaceAll('\u001b', '^'), /\^\[4Aa\^\[K\nb.*\nf\^/s)
  assert.equal(last(), '^[?25h')
})
