/** Help on models that run on a machine of one's own. */
export function LocalModelHelp({ isOpen }: { isOpen: boolean }) {
  return (
    <details className="card local-help" open={isOpen}>
      <summary>Use a local model</summary>
      <ol>
        <li>
          Start a server with the API of OpenAI, for example <a href="https://ollama.com">Ollama</a>:{" "}
          <code>ollama run llama3.1</code>. vLLM, llama.cpp and LM Studio work as well.
        </li>
        <li>
          Add a model with the base URL of the server, such as <code>http://127.0.0.1:11434/v1</code>, the
          name of the model, and any API key if the server needs none.
        </li>
        <li>Test it. The test lists the models of the server; no document is sent to it.</li>
        <li>
          If the address is rejected, the service may not call it: start it with{" "}
          <code>PIDQ_LLM_EGRESS=local</code> for this machine or <code>PIDQ_LLM_EGRESS=private</code> for the
          private network.
        </li>
      </ol>
    </details>
  );
}
