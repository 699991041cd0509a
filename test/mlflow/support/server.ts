/** The MLflow server that the tests are given. */
import assert from 'node:assert/strict'

export const url = process.env.WITAN_MLFLOW_URL ?? ''

/** What the server answers, whatever its status: with a body it is a POST. */
export async function answerOf<T>(path: string, body?: object): Promise<{ status: number; body: T }> {
  const response = await fetch(`${url}/api/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as T }
}

/** What the server answers with status 200. */
export async function ask<T>(path: string, body?: object): Promise<T> {
  const answer = await answerOf<T>(path, body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}
