/** The desk: a main agent, six specialists, and a council that nobody sees. Data and store lie in `.witan`; delete it, and all begins anew. */
import { fileURLToPath } from 'node:url'
import { makeData } from './data/make-data.ts'
import { deskOver } from './desk.ts'
import { modelsOf } from './model.ts'

const { env } = process
const places = await makeData(env['DESK_DATA'] ?? fileURLToPath(new URL('./.witan/data', import.meta.url)))

export default {
  store: { url: 'file:./.witan/desk.db' },
  ...deskOver(places, modelsOf(env, Number(env['DESK_PACE_MS'] ?? 220))),
}
