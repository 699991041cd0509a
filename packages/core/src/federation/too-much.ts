/** What another server sends is bounded: beyond a bound its call fails. */

/** The other server sent more than is taken. */
export class TooMuchError extends Error {
  constructor(message = 'it sent more than is taken') {
    super(message)
    this.name = 'TooMuchError'
  }
}
