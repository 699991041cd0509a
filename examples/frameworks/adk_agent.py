"""An agent of Google's Agent Development Kit. A class stands in for its model: it calls the tool, then answers from the result."""
import sys

import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types

port = int(sys.argv[1]) if len(sys.argv) > 1 else 9002


class Script(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        results = [part.function_response for part in llm_request.contents[-1].parts if part.function_response]
        if results:
            part = types.Part(text=f"It will be {results[0].response['weather']}.")
        else:
            part = types.Part(function_call=types.FunctionCall(name="forecast", args={"city": "Vienna"}))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def forecast(city: str) -> dict:
    """The weather of tomorrow."""
    return {"weather": f"sunny in {city}"}


agent = LlmAgent(
    name="weather",
    description="Knows the weather of tomorrow.",
    instruction="Answer from the forecast.",
    model=Script(model="script"),
    tools=[forecast],
)
uvicorn.run(to_a2a(agent, host="127.0.0.1", port=port), port=port, log_level="warning")
