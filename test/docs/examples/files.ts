/** A prompt with a picture and a table: the model gets both, the log names them, and a reader gets the bytes. */
import { createRuntime, defineAgent } from '@witan/core'
import { lastUserMessage, scriptedModel } from '@witan/core/testing'

const clerk = defineAgent({
  id: 'clerk',
  instructions: 'Describe what you are shown.',
  // This model takes pictures. Text files reach every model.
  model: scriptedModel((request) => lastUserMessage(request), { id: 'demo/clerk', takes: ['image/*'] }),
})
const runtime = createRuntime({ agents: [clerk] })
const base64 = (content: string | Uint8Array) => Buffer.from(content).toString('base64')

const chat = runtime.conversation('clerk', { id: 'chats/1' })
const { text } = await chat.run([
  { type: 'text', text: 'What is this?' },
  { type: 'file', mediaType: 'image/png', name: 'chart.png', data: base64(new Uint8Array(1200)) },
  { type: 'file', mediaType: 'text/csv', name: 'sales.csv', data: base64('month,sum\nMay,12') },
])
console.log(text)

const { messages } = await runtime.getDocument('chats/1')
const [, picture] = messages[0]?.parts ?? []
if (picture?.type === 'file') {
  console.log(picture.name, picture.bytes, picture.digest.slice(0, 14))
  console.log((await runtime.readFile('chats/1', picture.digest)).bytes.byteLength, 'bytes')
}

const sound = { type: 'file', mediaType: 'audio/wav', data: base64('RIFF') } as const
await chat.run([sound]).catch(({ code, message }) => console.log(code, message))
await runtime.close()
