/** Whether work holds up what else a server does. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { agent, type Stage } from './stage.ts'

/** Does work while another conversation runs again and again, of which no run may take a second. */
export async function undisturbed<Made>(stage: Stage, id: string, work: () => Promise<Made>): Promise<Made> {
  const bystander = `${id}-bystander`
  await stage.save(agent(bystander))
  stage.model.on(bystander, () => ({ text: 'fine' }))
  let isOver = false
  const watch = async () => {
    let longest = 0
    while (!isOver) {
      const from = performance.now()
      assert.equal((await stage.ask(bystander, 'hello')).text, 'fine')
      longest = Math.max(longest, performance.now() - from)
      await delay(10)
    }
    return longest
  }
  const watched = watch()
  try {
    return await work()
  } finally {
    isOver = true
    const longest = await watched
    assert.ok(longest < 1000, `another run took ${Math.round(longest)} ms`)
  }
}
