import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linePath } from './line-path.ts'

const laneWidth = 200
/** The points at which the pieces of a path end, and from which of them the line turns back. */
const stops = (path: string) => path.split(' ').flatMap((part) => (/^[ML]/.test(part) ? [part.slice(1)] : []))

test('a line onward enters its lanes at the left, one that goes back at the right, wherever exactly its ends stand', () => {
  const lanes = [300, 600].map((x) => ({ x, y: 50 }))
  const on = linePath({ from: { x: 200, y: 0 }, to: { x: 900, y: 0 }, lanes, laneWidth })
  assert.deepEqual(stops(on.path), ['200,0', '500,50', '800,50'])
  for (const off of [-1, -0.5, 0, 0.5, 1]) {
    const ends = { from: { x: 800 + off, y: 0 }, to: { x: 300 + off, y: 0 } }
    const back = linePath({ ...ends, lanes: lanes.toReversed(), laneWidth })
    assert.deepEqual(stops(back.path), [`${800 + off},0`, '600,50', '300,50'])
    assert.ok(back.middle.x < 300)
  }
})

test('a line to the next layer has no lanes', () => {
  const { path, middle } = linePath({ from: { x: 200, y: 0 }, to: { x: 300, y: 40 }, lanes: [], laneWidth })
  assert.equal(path, 'M200,0 C250,0 250,40 300,40')
  assert.deepEqual(middle, { x: 250, y: 20 })
})
