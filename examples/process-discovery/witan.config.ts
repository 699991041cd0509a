/** The four set-ups in one server: ask `monolithic`, `duo`, `manager` or `modeler`, and play the people yourself in the Studio. */
import { choose, loadKeys } from './models.ts'
import { protocols } from './protocols.ts'
import { setupsOf } from './setups/all.ts'

loadKeys()
const { modelOf, connections } = choose(process.env['DISCOVERY_MODEL'], process.env)

export default {
  store: { url: 'file:./.witan/process-discovery.db' },
  connections,
  protocols,
  agents: setupsOf(modelOf).flatMap(({ agents }) => agents),
}
