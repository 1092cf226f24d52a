// Web workers in pages that are opened from the file system, where browsers allow none: the search of the site.
(function () {
  "use strict";
  if (location.protocol !== "file:") return;

  // The interface of `Worker`; its script runs in a hidden frame.
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.scope = frame.contentWindow;
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.scope.document.createElement("script");
      script.src = new URL(url, document.baseURI).href;
      this.loaded = new Promise((resolve) => (script.onload = resolve));
      this.scope.document.body.append(script);
    }

    postMessage(data) {
      this.loaded.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.scope.frameElement.remove();
    }
  }

  // The script finds out by this name that it is in a frame.
  window.IFrameWorker = window.Worker = IFrameWorker;
})();
